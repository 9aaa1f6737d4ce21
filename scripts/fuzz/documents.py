"""Documents of every format, broken in every way: each is read in time, and its chunks stand where
they say. `python -m fuzz.documents --count 20000`.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from agentlas_memory.deadline import Deadline
from agentlas_memory.ontology.embedder import open_embedder
from agentlas_memory.ontology.formats import decode_text, split_lines
from agentlas_memory.ontology.index import index_project
from agentlas_memory.ontology.prepare import prepare_files
from agentlas_memory.ontology.prepared import Job, PreparedSource
from agentlas_memory.ontology.store import open_store
from agentlas_memory.project import DATABASE
from agentlas_memory.redact import redact
from fuzz.campaign import Campaign, main, throwaway
from fuzz.events import make_prompt, mutate

# Of a file: lines of one letter, each a heading, take nine seconds a megabyte.
_MOST_SECONDS, _SECONDS_A_BYTE = 1.0, 20e-6
_SUFFIXES = (
    *(".md", ".md", ".md", ".mdx", ".rst", ".adoc", ".org", ".txt", ".html", ".json", ".yaml"),
    *(".toml", ".py"),
)
_EXACT = (".md", ".mdx", ".rst", ".adoc", ".org", ".txt", ".py")  # chunks are the file's own lines
_INDEXED = 400  # files a project
# `·` stands for a space, `\n` for the end of a line.
_PIECE_LIST = r"""
#· ##· ######· #######· Title\n=====\n Title\n---\n =· *· **· -· 1.· >· ···· ``` ```python\n ~~~\n
````\n |a|b|\n|-|-|\n ---\n
---\ntitle:·x\n ---\nid:·[a\n---\n +++\n ...\n status:·accepted\n Status:·
supersedes:·0001-a.md\n [link](0002-b.md) [a]:·http://x\n ![]( [[ ]] <div> <!-- --> </div> <script>
<pre> <p> &amp; &#0; &#x110000; <![CDATA[ ..·code-block::·py\n\n ::\n\n ====\n ~~~~\n ----\n
[source]\n----\n |===\n #+BEGIN_SRC\n #+END_SRC\n :PROPERTIES:\n :END:\n #+TITLE:·x\n
{ } [ ] " ' "a":·
a:·&x\n b:·*x\n <<:·*x\n !!python/object:os.system\n -·-·-· key·=·1\n [table]\n [[t]]\n def·f():\n
class·A:\n * ** _ ` `` \ \n \n \n\n ADR-0001· #12· `get_user_by_id`· docs/a.md· 日本語· كتاب·
"""
_PIECES = [
    *(piece.replace("·", " ").replace("\\n", "\n") for piece in _PIECE_LIST.split()),
    *("\t", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\ufeff", "\x1b[0m", "\x7f"),
]
_DEEP_LIST = [
    "[",
    "(",
    "*",
    "_",
    ">·",
    "-·",
    "#",
    "`",
    "![",
    "<div>",
    "{",
    "[[",
    "··",
    "||",
    "a:·",
    "{a:·",
]
_DEEP = [text.replace("·", " ") for text in _DEEP_LIST]


def make_document(chance: random.Random) -> bytes:
    """Return a file's bytes: pieces of every format and words, seldom well-formed."""
    parts = []
    for _ in range(chance.choice((0, 1, 5, 30, 30, 200))):
        kind = chance.random()
        if kind < 0.5:
            parts.append(chance.choice(_PIECES))
        elif kind < 0.9:
            parts.append(make_prompt(chance)[:400] + chance.choice((" ", "\n", "\n\n", "")))
        elif kind < 0.97:
            parts.append(chance.choice(_PIECES) * chance.choice((3, 40, 500)))
        else:
            parts.append(chance.choice(_DEEP) * chance.choice((100, 3000, 30_000)))
    text = "".join(parts)
    if chance.random() < 0.05:
        text *= chance.choice((2, 20))
    data = text[:300_000].replace("\0", "").encode("utf-8", "replace")
    kind = chance.random()
    if kind < 0.05 and data:
        data = mutate(chance, data)
    elif kind < 0.08:
        data = data.decode().encode("utf-16")
    return data


def run(campaign: Campaign, first: int, count: int) -> None:
    """Prepare documents one by one, then index them together and look into the store."""
    with throwaway() as folder:
        embedder = open_embedder(many=True)
        for start in range(first, first + count, _INDEXED):
            root = folder / f"project-{start}"
            (root / ".agentlas").mkdir(parents=True)
            (root / ".agentlas/memory.toml").write_text('include = ["*"]\n')
            for number in range(start, min(start + _INDEXED, first + count)):
                chance = campaign.random(number)
                name = f"{number}{chance.choice(_SUFFIXES)}"
                (root / name).write_bytes(make_document(chance))
                began = time.perf_counter()
                try:
                    (source,) = prepare_files(root, [Job(name, 1, 1, "internal", None)], embedder)
                except Exception as error:
                    campaign.fault(name, f"{type(error).__name__}: {error}")
                    continue
                seconds = time.perf_counter() - began
                campaign.measure(seconds)
                size = (root / name).stat().st_size
                if seconds > _MOST_SECONDS + _SECONDS_A_BYTE * size:
                    campaign.fault(name, f"{seconds:.1f} s for {size} bytes")
                _check_source(campaign, root, name, source)
            _check_store(campaign, root)


def _check_source(campaign: Campaign, root: Path, name: str, source: object) -> None:
    if not isinstance(source, PreparedSource):
        campaign.figures["not text"] += 1
        return
    campaign.figures["read"] += 1
    for chunk in source.chunks:
        campaign.figures["chunks"] += 1
        _check_lines(campaign, root, name, (chunk.start_line, chunk.end_line, chunk.text))


def _check_lines(campaign: Campaign, root: Path, name: str, chunk: tuple[int, int, str]) -> None:
    """Note a fault unless a chunk is the lines that it names; of a cut line, a part of it."""
    start, end, text = chunk
    lines = _lines_of(root / name)
    if not 1 <= start <= end <= max(1, len(lines)):
        campaign.fault(name, f"lines {start}-{end} of {len(lines)}")
    elif name.endswith(_EXACT) and not _stands_in(text, lines[start - 1 : end]):
        campaign.fault(name, f"lines {start}-{end} do not say {text[:200]!r}")


@lru_cache(maxsize=2)
def _lines_of(file: Path) -> list[str]:
    """Return a file's lines as the index reads them."""
    return split_lines(redact(decode_text(file.read_bytes())))


def _stands_in(text: str, lines: Sequence[str]) -> bool:
    return text in "\n".join(lines)


def _check_store(campaign: Campaign, root: Path) -> None:
    try:
        index_project(root)
    except Exception as error:
        campaign.fault(root.name, f"{type(error).__name__}: {error}")
        return
    store = open_store(str(root / DATABASE), Deadline(60_000))
    for row in store.select_chunks(" ORDER BY c.chunk_id"):
        campaign.figures["chunks in stores"] += 1
        if not row.intact():
            campaign.fault(row.path, "is not intact")
        _check_lines(campaign, root, row.path, (row.start_line, row.end_line, row.text))
    store.close()


if __name__ == "__main__":
    sys.exit(main("documents", run, 20_000))
