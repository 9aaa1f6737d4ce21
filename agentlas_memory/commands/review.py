"""`review`: what a person should look at in the store, and what was decided about it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from agentlas_memory.commands.errors import WRONG_USE, UserError, as_user_error, command_line
from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import print_json, print_table, say
from agentlas_memory.commands.projects import (
    open_project_store,
    prepare_writing,
    require,
    require_home,
)
from agentlas_memory.commands.standing import agent_of, without_agent
from agentlas_memory.project import Project

if TYPE_CHECKING:
    from agentlas_memory.ontology.agents import Agent
    from agentlas_memory.ontology.decisions import Decision
    from agentlas_memory.review.findings import Finding

_STATES = {"quarantine": "quarantined", "approve": "approved", "reset": ""}
_PATIENCE_MS = 600_000.0
_WIDTH = 100


class _Look(NamedTuple):
    """What was found, and what had been decided; `agent` is whose experience was looked at."""

    findings: list[Finding]
    decisions: dict[str, Decision]
    cut_short: bool
    agent: Agent | None = None
    of_agent: dict[str, int] = {}  # noqa: RUF012 - never changed

    def of_project(self) -> dict[str, int]:
        """Return how many decisions of each kind the project's file holds."""
        states = [decision.state for decision in self.decisions.values()]
        return {state: states.count(cast("Any", state)) for state in ("approved", "quarantined")}

    def counts(self) -> dict[str, int]:
        """Return how many decisions of each kind there are in all."""
        return {state: n + self.of_agent.get(state, 0) for state, n in self.of_project().items()}

    def ledger(self) -> str:
        """Return the file that holds the decisions on experience."""
        return str(self.agent.ledger) if self.agent else ""


@click.command()
@click.argument("action", required=False, type=click.Choice(list(_STATES)))
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "with_decided", is_flag=True, help="Also what was decided before.")
@common_options
def review(
    action: str | None, ids: tuple[str, ...], with_decided: bool, named: str | None, as_json: bool
) -> None:
    """List what a person should look at in the project's memory, or decide about it.

    Text that looks like an instruction to a model, credentials that a file still holds, notes that
    contradict each other, sources whose file changed. `quarantine ID` keeps a passage out of the
    store, here and in every clone; `approve ID` says that it may stay; `reset ID` takes a decision
    back. Decisions are kept in .agentlas/ontology-inbox/review.json, those on what the project's
    agent learned in the agent's ledger.
    """
    project = require(named)
    if action is None:
        _list(project, with_decided, as_json)
    elif ids:
        _decide(project, action, ids, as_json)
    else:
        raise UserError(f"{action} needs the ID of a finding.", code=WRONG_USE)


def _list(project: Project, with_decided: bool, as_json: bool) -> None:
    look = _look(project)
    shown = [one for one in _once(look.findings) if with_decided or one.state == "open"]
    if look.cut_short:
        say("There are too many notes to hold each against every other: not all were compared.")
    if as_json:
        _print_document(shown, look)
        return
    if shown:
        print_table(("id", "state", "kind", "place", "excerpt", "what"), map(_row, shown))
    else:
        say("There is nothing to look at.")
    _say_decided(look, with_decided)


def _once(findings: list[Finding]) -> list[Finding]:
    """Return the findings, of two that ask the same question the first."""
    seen: set[str] = set()
    kept = []
    for finding in findings:
        if finding.twin not in seen:
            kept.append(finding)
            seen.add(finding.id)
    return kept


def _decide(project: Project, action: str, ids: tuple[str, ...], as_json: bool) -> None:
    if project.has_store:
        prepare_writing(project)
    from agentlas_memory.review.experience import row_of

    look = _look(project)
    known = {one.id: one for one in look.findings}
    for identity in ids:
        _refuse_unknown(project, action, identity, known, look.decisions)
    learned = [identity for identity in ids if identity in known and row_of(known[identity])]
    _decide_on_experience(look, action, [row_of(known[identity]) for identity in learned])
    _decide_on_project(project, action, [one for one in ids if one not in learned], look)
    after = _look(project)
    done = [known[i]._replace(state=_STATES[action] or "open") for i in ids if i in known]
    if as_json:
        _print_document(done, after)
    else:
        say(f"{', '.join(ids)}: {_STATES[action] or 'no decision any more'}.")
        _say_decided(after, True)


def _decide_on_project(project: Project, action: str, ids: list[str], look: _Look) -> None:
    from agentlas_memory.ontology.decisions import edit_decisions, read_decisions

    if not ids:
        return
    folder, before = _folder(project), look.decisions
    known = {one.id: one for one in look.findings}
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


def _decide_on_experience(look: _Look, action: str, rows: list[str]) -> None:
    from agentlas_memory.ontology.agents import change_experience

    if rows and look.agent is not None:
        change_experience(look.agent, [{"op": action, "id": row} for row in dict.fromkeys(rows)])


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
    from agentlas_memory.review.experience import row_of

    decided = identity in before or known[identity].state != "open"
    if action == "reset" and not decided:
        raise UserError(f"Nothing was decided on {identity}.", next_step=listing, code=WRONG_USE)
    if identity in known and known[identity].kind == "stale":
        row = row_of(known[identity])
        raise UserError(
            f"{identity} is a {'row that expired' if row else 'file that changed'}:"
            " there is nothing to decide.",
            next_step=command_line("experience list" if row else "index", project.store_root),
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


def _look(project: Project) -> _Look:
    """Judge the project's store and what its agent learned, as far as there are any."""
    agent = agent_of(project)
    look = _look_at_store(project) if project.has_store or agent is None else _Look([], {}, False)
    if agent is None:
        return look
    from agentlas_memory.ontology.agents import agent_in
    from agentlas_memory.ontology.learned import read_learned
    from agentlas_memory.ontology.ledger import read_ledger
    from agentlas_memory.review.experience import review_experience

    keeper = agent_in(require_home(), agent.slug)
    with without_agent(project, agent.slug):
        ledger = read_ledger(keeper.ledger, keeper.agent_id)
        found = review_experience(read_learned(keeper, time.time()), agent.slug, ledger.approved)
        kept_out = [row for row in ledger.rows.values() if row.status == "quarantined"]
        look = look._replace(
            findings=look.findings + found,
            agent=keeper,
            of_agent={"approved": len(ledger.approved), "quarantined": len(kept_out)},
        )
    return look  # noqa: RET504 - the block above may have been left early


def _look_at_store(project: Project) -> _Look:
    from agentlas_memory.ontology.decisions import read_decisions
    from agentlas_memory.review.project import read_rows, review_rows

    decisions = read_decisions(_folder(project))
    store = open_project_store(project, _PATIENCE_MS)
    try:
        rows = read_rows(store)
    finally:
        store.close()
    found = review_rows(rows, store, Path(project.store_root), decisions)
    return _Look(found.findings, decisions, found.cut_short)


def _print_document(findings: list[Finding], look: _Look) -> None:
    print_json({"findings": [_as_document(one) for one in findings], **look.counts()})


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


def _say_decided(look: _Look, with_decided: bool) -> None:
    from agentlas_memory.ontology.decisions import DECISIONS

    more = "" if with_decided else "; --all shows them"
    for where, counts in ((DECISIONS, look.of_project()), (look.ledger(), look.of_agent)):
        if any(counts.values()):
            told = ", ".join(f"{number} {state}" for state, number in counts.items())
            say(f"{told} by {where}{more}.")


def _folder(project: Project) -> Path:
    return Path(project.database).parent
