"""`bench`: measure this installation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from agentlas_memory.bench.corpus import UnreadableData
from agentlas_memory.bench.installation import INSTALL_ADVICE, NotInstalled, load_warning
from agentlas_memory.bench.processes import ProgramFailed
from agentlas_memory.commands.errors import UserError
from agentlas_memory.commands.output import print_json, print_table, say

if TYPE_CHECKING:
    from agentlas_memory.bench.hook_bench import HookReport
    from agentlas_memory.bench.index_bench import IndexReport

_Command = TypeVar("_Command", bound=Callable[..., None])


@click.group()
def bench() -> None:
    """Measure this installation."""


def _measuring(command: _Command) -> _Command:
    """Give a command the options that all measurements share."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
        click.option(
            "--chunks", type=click.IntRange(min=1), required=True, help="Size of the store."
        ),
        click.option(
            "--data",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            required=True,
            help="A folder with corpus.jsonl, or a folder of such folders.",
        ),
    ):
        command = option(command)
    return command


@bench.command()
@_measuring
@click.option(
    "--runs", type=click.IntRange(min=1), default=15, show_default=True, help="Rounds of prompts."
)
def hook(data: Path, chunks: int, as_json: bool, runs: int) -> None:
    """Time the installed hook in fresh processes, beside a bare interpreter."""
    from agentlas_memory.bench.hook_bench import bench_hook

    _show(lambda: bench_hook(data, chunks, runs), as_json)


@bench.command()
@_measuring
def index(data: Path, chunks: int, as_json: bool) -> None:
    """Time `agentlas-memory index` on Markdown files made from the data."""
    from agentlas_memory.bench.index_bench import bench_index

    _show(lambda: bench_index(data, chunks), as_json)


_one_set = click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="A folder with corpus.jsonl, queries.jsonl and qrels.tsv.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@bench.command()
@_one_set
@click.option("--split", default="", help="Only the questions of this split.")
@click.option("--no-gate", is_flag=True, help="Rank without the tests that keep the hook silent.")
@_json
def retrieval(data: Path, split: str, no_gate: bool, as_json: bool) -> None:
    """Measure how well right answers are ranked, over the program's own ingest and query."""
    from agentlas_memory.bench.retrieval_bench import bench_retrieval

    _show(lambda: bench_retrieval(data, split, not no_gate), as_json, timed=False)


@bench.command()
@_one_set
@click.option(
    "--queries",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="Prompts that deserve silence: a category, a tab and a prompt on each line.",
)
@_json
def silence(data: Path, queries: Path, as_json: bool) -> None:
    """Measure what is left unsaid: off-topic prompts, other projects' prompts, answers kept."""
    from agentlas_memory.bench.silence_bench import bench_silence

    _show(lambda: bench_silence(data, queries), as_json, timed=False)


def _show(
    measure: Callable[[], HookReport | IndexReport | dict[str, object]],
    as_json: bool,
    timed: bool = True,
) -> None:
    """Measure and print; where time is measured, a busy machine is a remark, not a failure."""
    if timed and (warning := load_warning()):
        say(warning)
    try:
        measured = measure()
        report = measured if isinstance(measured, dict) else asdict(measured)
    except NotInstalled as error:
        raise UserError(str(error), next_step=INSTALL_ADVICE) from error
    except (UnreadableData, ProgramFailed) as error:
        raise UserError(str(error)) from error
    if as_json:
        print_json(report)
    else:
        print_table(("figure", "value"), [(name, _cell(report[name])) for name in report])


def _cell(value: object) -> str:
    if isinstance(value, dict):
        return "  ".join(f"{name} {number}" for name, number in value.items())
    return str(value)
