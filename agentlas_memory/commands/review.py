"""`review`: what a person should look at in the store, and what was decided about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from agentlas_memory.commands.errors import WRONG_USE, UserError, as_user_error, command_line
from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import print_json, print_table, say
from agentlas_memory.commands.projects import open_project_store, prepare_writing, require
from agentlas_memory.project import Project

if TYPE_CHECKING:
    from agentlas_memory.ontology.decisions import Decision
    from agentlas_memory.review.findings import Finding

_STATES = {"quarantine": "quarantined", "approve": "approved", "reset": ""}
_PATIENCE_MS = 600_000.0
_WIDTH = 100


@click.command()
@click.argument("action", required=False, type=click.Choice(list(_STATES)))
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "with_decided", is_flag=True, help="Also what was decided before.")
@common_options
def review(
    action: str | None, ids: tuple[str, ...], with_decided: bool, named: str | None, as_json: bool
) -> None:
    """List what a person should look at in the project's store, or decide about it.

    Text that looks like an instruction to a model, credentials that a file still holds, notes that
    contradict each other, sources whose file changed. `quarantine ID` keeps a passage out of the
    store, here and in every clone; `approve ID` says that it may stay; `reset ID` takes a decision
    back. Decisions are kept in .agentlas/ontology-inbox/review.json.
    """
    project = require(named)
    if action is None:
        _list(project, with_decided, as_json)
    elif ids:
        _decide(project, action, ids, as_json)
    else:
        raise UserError(f"{action} needs the ID of a finding.", code=WRONG_USE)


def _list(project: Project, with_decided: bool, as_json: bool) -> None:
    findings, decisions, cut_short = _look(project)
    shown = [one for one in findings if with_decided or one.state == "open"]
    if cut_short:
        say("There are too many notes to hold each against every other: not all were compared.")
    if as_json:
        _print_document(shown, decisions)
        return
    if shown:
        print_table(("id", "state", "kind", "place", "excerpt", "what"), map(_row, shown))
    else:
        say("There is nothing to look at.")
    _say_decided(decisions, with_decided)


def _decide(project: Project, action: str, ids: tuple[str, ...], as_json: bool) -> None:
    from agentlas_memory.ontology.decisions import edit_decisions, read_decisions

    prepare_writing(project)
    findings, before, _ = _look(project)
    known = {one.id: one for one in findings}
    for identity in ids:
        _refuse_unknown(project, action, identity, known, before)
    folder = _folder(project)
    with edit_decisions(folder) as kept:
        for identity in ids:
            if action == "reset":
                kept.pop(identity, None)
            else:
                kept[identity] = kept.get(identity, {}) | _entry(action, identity, known, before)
    after = read_decisions(folder)
    changed = {d.path for d in {*before.values()} ^ {*after.values()} if d.state == "quarantined"}
    if changed:
        _follow(project, sorted(changed))
    done = [known[i]._replace(state=_STATES[action] or "open") for i in ids if i in known]
    if as_json:
        _print_document(done, after)
    else:
        say(f"{', '.join(ids)}: {_STATES[action] or 'no decision any more'}.")
        _say_decided(after, True)


def _refuse_unknown(
    project: Project,
    action: str,
    identity: str,
    known: dict[str, Finding],
    before: dict[str, Decision],
) -> None:
    listing = command_line("review --all", project.store_root)
    if identity not in known and identity not in before:
        raise UserError(f"There is no finding {identity}.", next_step=listing, code=WRONG_USE)
    if action == "reset" and identity not in before:
        raise UserError(f"Nothing was decided on {identity}.", next_step=listing, code=WRONG_USE)
    if identity in known and known[identity].kind == "stale":
        raise UserError(
            f"{identity} is a file that changed: there is nothing to decide.",
            next_step=command_line("index", project.store_root),
            code=WRONG_USE,
        )


def _entry(
    action: str, identity: str, known: dict[str, Finding], before: dict[str, Decision]
) -> dict[str, Any]:
    """Return what is kept of a decision: names and digests, no text."""
    if identity in before:
        return before[identity]._asdict() | {"state": _STATES[action]}
    finding = known[identity]
    return {
        "state": _STATES[action],
        "kind": finding.kind,
        "path": finding.passage.path,
        "text": finding.passage.digest,
    }


def _follow(project: Project, paths: list[str]) -> None:
    """Bring the store in line with the decisions on these sources, at once."""
    from agentlas_memory.commands.index import run
    from agentlas_memory.ontology.decisions import DECISIONS

    try:
        files = [file for path in paths if (file := Path(project.store_root, path)).is_file()]
        run(project, files if len(files) == len(paths) else [], forget=True)
    except (Exception, KeyboardInterrupt) as error:
        failure = as_user_error(error)
        if failure is None:
            raise
        raise UserError(
            failure.what,
            kept=f"The decision is kept in {DECISIONS}, but the store does not follow it yet.",
            next_step=command_line("index", project.store_root),
            code=failure.code,
        ) from error


def _look(project: Project) -> tuple[list[Finding], dict[str, Decision], bool]:
    from agentlas_memory.ontology.decisions import read_decisions
    from agentlas_memory.review.project import read_rows, review_rows

    decisions = read_decisions(_folder(project))
    store = open_project_store(project, _PATIENCE_MS)
    try:
        rows = read_rows(store)
    finally:
        store.close()
    found = review_rows(rows, store, Path(project.store_root), decisions)
    return found.findings, decisions, found.cut_short


def _print_document(findings: list[Finding], decisions: dict[str, Decision]) -> None:
    print_json({"findings": [_as_document(one) for one in findings], **_counts(decisions)})


def _as_document(finding: Finding) -> dict[str, Any]:
    passage = finding.passage
    return {
        "id": finding.id,
        "kind": finding.kind,
        "source": passage.path,
        "heading": passage.heading,
        "lines": [passage.start_line, passage.end_line],
        "excerpt": finding.excerpt,
        "detail": finding.detail,
        "state": finding.state,
    }


def _row(finding: Finding) -> tuple[str, ...]:
    excerpt = finding.excerpt
    short = excerpt if len(excerpt) <= _WIDTH else excerpt[: _WIDTH - 1] + "…"
    return finding.id, finding.state, finding.kind, finding.place, short, finding.detail


def _counts(decisions: dict[str, Decision]) -> dict[str, int]:
    states = [decision.state for decision in decisions.values()]
    return {state: states.count(cast("Any", state)) for state in ("approved", "quarantined")}


def _say_decided(decisions: dict[str, Decision], with_decided: bool) -> None:
    from agentlas_memory.ontology.decisions import DECISIONS

    if decisions:
        counts = ", ".join(f"{number} {state}" for state, number in _counts(decisions).items())
        more = "" if with_decided else "; --all shows them"
        say(f"{counts} by {DECISIONS}{more}.")


def _folder(project: Project) -> Path:
    return Path(project.database).parent
