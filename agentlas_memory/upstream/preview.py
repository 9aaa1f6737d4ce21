"""What an old store holds, counted, with what can never be carried."""

from __future__ import annotations

from agentlas_memory.upstream.learned import ROWS, count_agents
from agentlas_memory.upstream.reading import UpstreamReader
from agentlas_memory.upstream.report import Report

OF_ANOTHER = "of another agent: "
_COUNTED = ("sources", "chunks", "entities", "relations", "working_memory")
_STAYS = {  # table -> what it is called, why it is not carried
    "entities": ("entities", "they are found anew in the texts"),
    "relations": ("relations", "they are found anew in the texts"),
    "working_memory": ("working memory", "it was of sessions that are over"),
}


def count_all(
    reader: UpstreamReader, agent: str, report: Report, *, documents: bool = True
) -> None:
    """Count the rows of one store; those of other agents are told under their names.

    Without `documents` these are not what the run is about, and nothing of them is missed.
    """
    for table in _COUNTED:
        count = reader.count(table)
        _add(report, table, count)
        if not documents:
            continue
        if table in _STAYS:
            what, reason = _STAYS[table]
            report.leave(what, reason, count=count or 0)
        if table == "chunks":
            report.leave("vectors", "they are made anew from the texts", count=count or 0)
    agents = count_agents(reader)
    experience = sum(agents.values())
    _add(report, "experience", experience)
    _add(report, "links", reader.count("memory_links"))
    everything = reader.count("memory_candidates")
    tickets = None if everything is None else max(0, everything - experience)
    _add(report, "tickets", tickets)
    report.leave("curator tickets", "nobody has decided that they are memory", count=tickets or 0)
    for name, count in sorted(agents.items()):
        if name != agent:
            report.leave(ROWS, f"{OF_ANOTHER}{name}", count=count)


def note_damage(reader: UpstreamReader, report: Report) -> None:
    """Tell of which tables some rows could not be read."""
    for table in sorted(reader.damaged):
        report.leave("tables", "damaged: some rows could not be read", table)


def _add(report: Report, what: str, count: int | None) -> None:
    before = report.found.get(what, 0)
    report.found[what] = None if before is None or count is None else before + count
