"""What old stores hold, counted, with what can never be carried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agentlas_memory.ontology.agents import Agent, agent_in
from agentlas_memory.ontology.ledger import LedgerError, read_ledger
from agentlas_memory.upstream.learned import (
    ROWS,
    Learned,
    agent_of,
    count_agents,
    ledger_events,
    read_learned_rows,
)
from agentlas_memory.upstream.reading import UpstreamReader, open_upstream
from agentlas_memory.upstream.report import Report

OF_ANOTHER = "of another agent: "
_COUNTED = ("sources", "chunks", "entities", "relations", "working_memory")
_STAYS = {  # table -> why it is not carried
    "entities": "they are found anew in the texts",
    "relations": "they are found anew in the texts",
    "working_memory": "it was of sessions that are over",
}


def count_documents(reader: UpstreamReader, report: Report) -> None:
    """Count what a store holds of documents; what is derived from them is made anew."""
    for table in _COUNTED:
        count = reader.count(table)
        _add(report, table, count)
        if table in _STAYS:
            report.leave(table.replace("_", " "), _STAYS[table], count=count or 0)
        if table == "chunks":
            report.leave("vectors", "they are made anew from the texts", count=count or 0)


def count_memory(reader: UpstreamReader, own: str, report: Report) -> Counter[str]:
    """Count tickets and links, and return how many rows of experience there are by agent."""
    agents, tickets = count_agents(reader, own)
    experience = sum(agents.values())
    _add(report, "experience", experience)
    _add(report, "links", reader.count("memory_links"))
    _add(report, "tickets", tickets)
    report.leave("curator tickets", "nobody has decided that they are memory", count=tickets)
    unread = (reader.count("memory_candidates") or 0) - experience - tickets
    report.leave("rows of memory", "they cannot be read", count=max(0, unread))
    return Counter(agents)


def leave_others(
    stores: Sequence[Path], agents: Counter[str], own: str, home: str, report: Report
) -> None:
    """Tell the rows of other agents under their names, unless an earlier run carried them."""
    for name, count in sorted(agents.items()):
        if name == own:
            continue
        known = _carried_before(stores, agent_in(home, name)) if agent_of(name) == name else None
        if known is None:
            report.leave(ROWS, f"{OF_ANOTHER}{name}", count=count)
        else:
            report.add(known)


def can_be_named(reason: str) -> bool:
    """Tell whether rows were left that a run with `--agent NAME` takes."""
    name = reason.removeprefix(OF_ANOTHER)
    return name != reason and agent_of(name) == name


def note_damage(reader: UpstreamReader, report: Report) -> None:
    """Tell of which tables some rows could not be read."""
    for table in sorted(reader.damaged):
        report.leave("tables", "damaged: some rows could not be read", table)


def _carried_before(stores: Sequence[Path], agent: Agent) -> Report | None:
    """Return what became of an agent's rows where its ledger has all that can be carried."""
    if not agent.ledger.exists():
        return None
    learned, report = Learned(), Report()
    for store in stores:
        with open_upstream(store) as reader:
            read_learned_rows(reader, agent.slug, learned, report)
    try:
        ledger = read_ledger(agent.ledger, agent.agent_id)
    except (LedgerError, OSError):
        return None
    return None if ledger_events(learned, ledger, report) else report


def _add(report: Report, what: str, count: int | None) -> None:
    before = report.found.get(what, 0)
    report.found[what] = None if before is None or count is None else before + count
