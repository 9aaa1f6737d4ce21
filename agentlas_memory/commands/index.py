"""`index`: take in what changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentlas_memory.commands.errors import (
    WRONG_USE,
    UserError,
    as_user_error,
    command_line,
    interrupted,
)
from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import is_terminal, print_json, say
from agentlas_memory.commands.projects import require, writing
from agentlas_memory.delivery import forget_old_sessions, remove_leftovers
from agentlas_memory.home import data_home
from agentlas_memory.project import Project

if TYPE_CHECKING:
    from agentlas_memory.ontology.index import IndexReport

Progress = Callable[[int, int], None]
_SHOWN_SKIPS = 10


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--quiet", is_flag=True, help="Print nothing unless something fails.")
@click.option("--watch", is_flag=True, help="Go on until Ctrl-C, taking in what changes.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=2.0,
    show_default=True,
    help="Seconds between two looks with --watch.",
)
@common_options
def index(
    paths: tuple[Path, ...],
    quiet: bool,
    watch: bool,
    interval: float,
    named: str | None,
    as_json: bool,
) -> None:
    """Bring the store up to date with the project's files; a PATH narrows the run.

    What was added, changed, removed or left unchanged are the files of this run; sources and chunks
    are all that the store holds, notes and other files included.
    """
    if watch and as_json:
        raise UserError("--watch prints no JSON: it never ends by itself.", code=WRONG_USE)
    project = require(named)
    if project.root != project.store_root and not quiet:
        say(f"{project.root} is a linked worktree: its main one is indexed, {project.store_root}")
    narrowed = tuple(path.absolute() for path in paths)
    try:
        report = run(project, narrowed, with_bar=not (quiet or as_json) and is_terminal())
        _refuse_missing(narrowed, report)
        if as_json:
            print_json(as_document(report))
        elif not quiet:
            say(summary(report))
            _tell_of_unfinished_import(project)
        if watch:
            _watch(project, narrowed, interval, quiet)
    except KeyboardInterrupt:
        raise interrupted(
            "What was indexed before is kept, each file whole.",
            f"{command_line('index', project.store_root)} does the rest",
        ) from None


def _refuse_missing(paths: Sequence[Path], report: IndexReport) -> None:
    """Fail for a PATH that is neither there nor was in the store: most likely it is misspelt."""
    missing = [path for path in paths if not path.exists() and not path.is_symlink()]
    if missing and not report.removed:
        raise UserError(f"{missing[0]} does not exist.", code=WRONG_USE)


def run(
    project: Project, paths: Sequence[Path] = (), *, with_bar: bool = False, forget: bool = False
) -> IndexReport:
    """Index a project whose store is trusted or new."""
    from agentlas_memory.ontology.index import index_project
    from agentlas_memory.recall.calibrate import calibrate

    forget_old_sessions(data_home())
    remove_leftovers(data_home())
    with writing(project), _progress(with_bar) as progress:
        report = index_project(Path(project.store_root), paths, progress=progress, forget=forget)
        calibrate(Path(project.database))
    _renew_experience(project)
    return report


def _renew_experience(project: Project) -> None:
    """Bring what the project's agent learned to this version; a failure is no failure of a run."""
    from agentlas_memory.commands.standing import agent_of

    verified = agent_of(project)
    if verified is None:
        return
    from agentlas_memory.ontology.agents import agent_in, renew_experience

    try:
        renew_experience(agent_in(data_home(), verified.slug))
    except Exception as error:
        failure = as_user_error(error)
        if failure is None:
            raise
        say(f"The experience of {verified.slug} was left as it is: {failure.what}")


def run_for_note(
    project: Project, path: Path, *, kept: str, next_step: str = "", forget: bool = False
) -> IndexReport:
    """Index one note; an expected failure says what became of its file."""
    try:
        return run(project, [path], forget=forget)
    except (Exception, KeyboardInterrupt) as error:
        failure = as_user_error(error)
        if failure is None:
            raise
        next_step = next_step or failure.next_step
        raise UserError(failure.what, kept=kept, next_step=next_step, code=failure.code) from error


def as_document(report: IndexReport) -> dict[str, Any]:
    """Return the report under its JSON keys."""
    return {
        "sources": report.sources,
        "chunks": report.chunks,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "skipped": [{"path": one.path, "reason": one.reason} for one in report.skipped],
        "embedding": report.embedding,
        "seconds": report.seconds,
    }


def summary(report: IndexReport) -> str:
    """Return what a run did, for a person."""
    lines = [
        f"this run: {report.added} added, {report.changed} changed, {report.removed} removed,"
        f" {report.unchanged} unchanged ({report.seconds:.2f} s)",
        f"in the store: {report.sources} sources, {report.chunks} chunks",
    ]
    lines += [f"skipped {one.path}: {one.reason}" for one in report.skipped[:_SHOWN_SKIPS]]
    if len(report.skipped) > _SHOWN_SKIPS:
        rest = len(report.skipped) - _SHOWN_SKIPS
        lines.append(f"skipped {rest} more; all of them with --json")
    return "\n".join(lines)


def _tell_of_unfinished_import(project: Project) -> None:
    """Say that a store of Agentlas OS was renamed, and that not all of it was carried over."""
    from agentlas_memory.upstream.moving import kept_name, report_file

    old = Path(project.database)
    if kept_name(old).exists() and not report_file(old).exists():
        again = command_line("import-store", project.store_root)
        say(f"{kept_name(old).name} was not carried over to its end; {again}")


def _watch(project: Project, paths: Sequence[Path], interval: float, quiet: bool) -> None:
    """Look for changes until Ctrl-C; a look at an unchanged project only compares file times."""
    if not quiet:
        say(f"watching {project.store_root}, Ctrl-C ends it")
    try:
        while True:
            time.sleep(interval)
            _look(project, paths, quiet)
    except KeyboardInterrupt:
        if not quiet:
            say("stopped; what was indexed is kept")


def _look(project: Project, paths: Sequence[Path], quiet: bool) -> None:
    """Index what changed; a lock, or memory.toml half edited, is over by the next look."""
    try:
        report = run(project, paths)
    except Exception as error:
        failure = as_user_error(error)
        if failure is None:
            raise
        say(f"not now: {failure.what}")
        return
    if not quiet and (report.added or report.changed or report.removed):
        say(summary(report))


@contextmanager
def _progress(with_bar: bool) -> Iterator[Progress | None]:
    """Yield what to tell of progress; it moves a bar on a terminal."""
    if not with_bar:
        yield None
        return
    from rich.console import Console  # not at the top: only a person needs it
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("indexing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
