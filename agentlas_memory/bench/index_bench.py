"""What indexing a project costs in time, memory and on disk: the installed command, timed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from agentlas_memory.bench.corpus import TEXTS_PER_PAGE, Text, make_chunks, read_corpora
from agentlas_memory.bench.installation import clean_environment, installed_program
from agentlas_memory.bench.processes import Run, run_tree

_FEW_CHUNKS = 10_000  # the size whose peak a larger run is set against
_MB = 1_000_000


@dataclass(frozen=True)
class IndexReport:
    """One first run and one second run without changes; MB are millions of source bytes.

    `store_ratio` is database and vector file over source; `peak_mib_at_10000` is there for larger
    runs only, to show whether memory grows with the project.
    """

    mb_per_s: float
    chunks_per_s: float
    store_ratio: float
    peak_mib: float
    peak_mib_at_10000: float | None
    seconds: float
    second_run_seconds: float
    source_mb: float
    sources: int
    chunks: int


@dataclass(frozen=True)
class _Indexed:
    """A project that was indexed once, and what that took."""

    run: Run
    counts: Mapping[str, int]
    source_bytes: int
    store_bytes: int
    second_seconds: float


def bench_index(data: Path, count: int) -> IndexReport:
    """Measure indexing of `count` chunks made from `data`."""
    program = installed_program("agentlas-memory")
    chunks = make_chunks(read_corpora(data), count)
    smaller = _index(program, chunks[:_FEW_CHUNKS]) if count > _FEW_CHUNKS else None
    indexed = _index(program, chunks)
    seconds = indexed.run.seconds
    return IndexReport(
        mb_per_s=round(indexed.source_bytes / _MB / seconds, 3),
        chunks_per_s=round(indexed.counts["chunks"] / seconds, 1),
        store_ratio=round(indexed.store_bytes / indexed.source_bytes, 3),
        peak_mib=round(indexed.run.peak_mib, 1),
        peak_mib_at_10000=round(smaller.run.peak_mib, 1) if smaller else None,
        seconds=round(seconds, 2),
        second_run_seconds=round(indexed.second_seconds, 3),
        source_mb=round(indexed.source_bytes / _MB, 3),
        sources=indexed.counts["sources"],
        chunks=indexed.counts["chunks"],
    )


def _index(program: Path, chunks: Sequence[Text]) -> _Indexed:
    """Index a project of these chunks twice, in folders that are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="agentlas-bench-") as name:
        folder = Path(name).resolve()
        project, home = folder / "project", folder / "home"
        home.mkdir()
        source_bytes = write_documents(project / "docs", chunks)
        _run(program, "init", project, home)
        first, counts = _run(program, "index", project, home)
        second, _ = _run(program, "index", project, home)
        store = sum(file.stat().st_size for file in project.glob(".agentlas/ontology-runtime.*"))
        return _Indexed(first, counts, source_bytes, store, second.seconds)


def write_documents(folder: Path, chunks: Sequence[Text]) -> int:
    """Write chunks as Markdown, twenty or a document's own to a file; return the bytes."""
    folder.mkdir(parents=True)
    written = number = 0
    for _, document in groupby(chunks, key=lambda chunk: chunk.doc):
        texts = list(document)
        for start in range(0, len(texts), TEXTS_PER_PAGE):
            number += 1
            page = _markdown(number, texts[start : start + TEXTS_PER_PAGE])
            written += (folder / f"{number:06}.md").write_bytes(page.encode("utf-8", "replace"))
    return written


def _markdown(number: int, texts: Sequence[Text]) -> str:
    """Return a page: its document's name, then a section for each text."""
    parts = [f"# {texts[0].doc or f'Page {number}'}"]
    for text in texts:
        parts += [f"## {_one_line(text.title) or text.id}", text.text.strip()]
    return "\n\n".join(parts) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _run(program: Path, command: str, project: Path, home: Path) -> tuple[Run, dict[str, int]]:
    """Run one command of the CLI on the project."""
    arguments = [str(program), command, "--project", str(project), "--json"]
    run = run_tree(arguments, clean_environment(home), project, home / "output.json")
    return run, json.loads(run.stdout)
