"""`import`: what other programs remember becomes notes, once a person has seen it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentlas_memory.commands.errors import (
    REFUSED,
    WRONG_USE,
    UserError,
    command_line,
    interrupted,
    says_yes,
)
from agentlas_memory.commands.options import common_options, scope_choice
from agentlas_memory.commands.output import counted, print_json, say
from agentlas_memory.commands.projects import prepare_writing, require
from agentlas_memory.home import user_home

if TYPE_CHECKING:
    from agentlas_memory.importing.items import Gathered
    from agentlas_memory.importing.plan import Plan
    from agentlas_memory.ontology.index import IndexReport
    from agentlas_memory.project import Project

Command = TypeVar("Command", bound=Callable[..., Any])
_PATIENCE_MS = 60_000.0


@click.group("import")
def import_group() -> None:
    """Take over memories that other programs kept, as notes of the project.

    What would be written is shown first. A second import of the same source changes only what
    changed there.
    """


def import_options(command: Command) -> Command:
    """Add the options of every source, and `--project` and `--json`."""
    for option in (
        click.option("--flagged", is_flag=True, help="Also what looks like an instruction."),
        click.option("--prune", is_flag=True, help="Remove notes that vanished from the source."),
        click.option(
            "--again", is_flag=True, help="Also what was forgotten or changed in the inbox."
        ),
        click.option("--scope", type=scope_choice, default="internal", show_default=True),
        click.option("--yes", is_flag=True, help="Do not ask before writing."),
        click.option("--dry-run", is_flag=True, help="Show what would be written, and stop."),
    ):
        command = option(command)
    return common_options(command)


@import_group.command("claude")
@import_options
def import_claude(named: str | None, as_json: bool, **wishes: Any) -> None:
    """Take over what Claude Code remembers of this project.

    The topic files of its auto memory are found by themselves, in ~/.claude or CLAUDE_CONFIG_DIR;
    MEMORY.md is not taken, as Claude loads it.
    """
    from agentlas_memory.importing.claude import gather_claude

    project = require(named)
    roots = _roots(project)
    _import(project, lambda: gather_claude(roots, os.environ, user_home()), as_json, wishes)


@import_group.command("codex")
@import_options
def import_codex(named: str | None, as_json: bool, **wishes: Any) -> None:
    """Take over Codex's summaries of sessions held in this project.

    They lie in `memories/` of ~/.codex or CODEX_HOME; those of other projects are left out.
    """
    from agentlas_memory.importing.codex import gather_codex

    project = require(named)
    roots = _folders(project)
    _import(project, lambda: gather_codex(roots, os.environ, user_home()), as_json, wishes)


@import_group.command("markdown")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@import_options
def import_markdown(folder: Path, named: str | None, as_json: bool, **wishes: Any) -> None:
    """Take over the Markdown files of DIR, as basic-memory, memsearch or Obsidian keep them."""
    from agentlas_memory.importing.markdown import gather_markdown

    _import(require(named), lambda: gather_markdown(folder.absolute()), as_json, wishes)


@import_group.command("mem0")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@import_options
def import_mem0(file: Path, named: str | None, as_json: bool, **wishes: Any) -> None:
    """Take over the memories of FILE, a JSON export of mem0."""
    from agentlas_memory.importing.mem0 import gather_mem0

    _import(require(named), lambda: gather_mem0(file.absolute()), as_json, wishes)


@import_group.command("git")
@click.option("--since", metavar="DATE", default="", help="Only what was committed since then.")
@click.option("--subjects", is_flag=True, help="Also commits without a body, if a sentence long.")
@import_options
def import_git(since: str, subjects: bool, named: str | None, as_json: bool, **wishes: Any) -> None:
    """Take over the commits and tags of this repository that say why, a note for each year.

    Merges, versions, formatting, robots, what was reverted and commits without a body are left out.
    """
    from agentlas_memory.importing.git import gather_git

    project = require(named)
    root = Path(project.store_root)
    flagged = bool(wishes["flagged"])
    _import(
        project,
        lambda: gather_git(root, since, subjects=subjects, flagged=flagged),
        as_json,
        wishes,
    )


def _import(
    project: Project, gather: Callable[[], Gathered], as_json: bool, wishes: dict[str, Any]
) -> None:
    """Gather, plan, show, ask, write, index."""
    from agentlas_memory.commands.import_report import as_document, preview
    from agentlas_memory.importing.plan import Wishes, make_plan

    dry_run, yes = wishes.pop("dry_run"), wishes.pop("yes")
    if as_json and not (dry_run or yes):
        raise UserError(
            "--json asks nothing: add --dry-run or --yes.",
            next_step="the same command with --dry-run shows what would be taken over",
            code=WRONG_USE,
        )
    if not dry_run:
        prepare_writing(project)
    wanted = Wishes(**wishes)
    root = Path(project.store_root)
    plan = make_plan(root, _gathered(gather), wanted, _documents(project))
    if not as_json:
        say(preview(plan, dry_run=dry_run))
    report = None
    if not dry_run and (plan.steps or plan.taken):
        _refuse_unasked(plan, asked=yes)
        report = _write(project, plan)
    if as_json:
        print_json(as_document(plan, wanted, report, dry_run=dry_run))
    elif report is not None:
        sources, chunks = counted(report.sources, "source"), counted(report.chunks, "chunk")
        say(f"Done: {sources} and {chunks} are in the store.")


def _gathered(gather: Callable[[], Gathered]) -> Gathered:
    from agentlas_memory.importing.items import SourceError
    from agentlas_memory.redact import redact

    try:
        return gather()
    except SourceError as error:
        raise UserError(f"{redact(str(error))}.".replace("..", "."), code=WRONG_USE) from error


def _refuse_unasked(plan: Plan, *, asked: bool) -> None:
    if not plan.steps or asked:
        return
    if not says_yes("Write that?"):
        raise UserError(
            "Nothing was imported: nobody said yes.", next_step="--yes says so", code=REFUSED
        )


def _write(project: Project, plan: Plan) -> IndexReport | None:
    from agentlas_memory.commands.index import run_for_note
    from agentlas_memory.commands.init import make_gitignore
    from agentlas_memory.importing.apply import apply_plan
    from agentlas_memory.importing.plan import ADDED
    from agentlas_memory.ontology.documents import INBOX

    root = Path(project.store_root)
    make_gitignore(str(root))  # before the first note is there
    try:
        passed = apply_plan(root, plan)
    except KeyboardInterrupt:
        raise interrupted(
            "Notes that were written are kept; the store does not hold them yet.",
            "run the same import again: it goes on where it ended",
        ) from None
    for step in passed:
        say(f"{step.note.name} was left: it changed meanwhile, or something else is there.")
    plan.steps = [step for step in plan.steps if step not in passed]
    if not plan.steps:
        return None
    return run_for_note(
        project,
        root / INBOX,
        kept=f"The notes are in {root / INBOX}, but the store does not hold all of them yet.",
        next_step=command_line("index", project.store_root),
        forget=any(step.action != ADDED for step in plan.steps),
    )


def _documents(project: Project) -> dict[bytes, str]:
    """Return the project's indexed documents by the hash of their content."""
    from agentlas_memory.deadline import Deadline
    from agentlas_memory.ontology.store import StoreUnusable, open_store

    try:
        store = open_store(project.database, Deadline(_PATIENCE_MS))
    except StoreUnusable:
        return {}
    try:
        rows = store.rows(
            "SELECT content_hash, path FROM sources WHERE kind <> 'record'"
            " AND content_hash IS NOT NULL AND path NOT LIKE '.agentlas/%'"
        )
        return {digest: str(path) for digest, path in rows if isinstance(digest, bytes)}
    finally:
        store.close()


def _roots(project: Project) -> list[str]:
    """Return what Claude may name this project after: its folder, or its repository's top."""
    found = _folders(project)
    for root in _folders(project):
        at = root
        while at and not os.path.lexists(f"{at}/.git"):
            at = at.rpartition("/")[0]
        found.append(at)
    home = os.path.realpath(user_home() or "/")
    return [root for root in dict.fromkeys(found) if root and os.path.realpath(root) != home]


def _folders(project: Project) -> list[str]:
    """Return the project's folder and its main worktree, as they are called and as they are."""
    named = (project.root, project.store_root)
    return list(dict.fromkeys([*named, *map(os.path.realpath, named)]))
