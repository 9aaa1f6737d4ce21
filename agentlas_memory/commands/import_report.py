"""What an import tells: a preview for a person, one document for a program; never a credential."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from agentlas_memory.commands.output import counted
from agentlas_memory.importing.plan import ADDED, CHANGED, REMOVED

if TYPE_CHECKING:
    from agentlas_memory.importing.plan import Plan, Step, Wishes
    from agentlas_memory.ontology.index import IndexReport

_SHOWN = 15


def preview(plan: Plan, *, dry_run: bool) -> str:
    """Return what would be written, and what not and why."""
    verb = "would be" if dry_run else "to be"
    lines = [f"{counted(plan.found, 'memory', 'memories')} in {plan.place}", *plan.remarks]
    for action in (ADDED, CHANGED, REMOVED):
        steps = plan.of(action)
        lines += [f"{verb} {action}: {len(steps)}"] if steps else []
        lines += _some(map(_named, steps))
    if plan.unchanged:
        lines.append(f"unchanged: {plan.unchanged}")
    lines += _section("forgotten here, left out (--again takes them)", plan.forgotten)
    lines += _section("changed in the inbox, kept so (--again overwrites)", plan.edited)
    lines += _section("gone from the source, kept here (--prune removes)", plan.vanished)
    lines += _section(
        "there already",
        (f"{one.place}: {'nearly ' if one.near else ''}{one.of}" for one in plan.duplicates),
    )
    lines += _section(
        "held back, look at these (--flagged takes them)",
        (f"{one.place}: {one.reason}" for one in plan.held),
    )
    lines += _section("left out", (f"{one.place}: {one.reason}" for one in plan.left))
    lines += _section(
        "credentials taken out",
        (f"{place}: {_kinds(kinds)}" for place, kinds in sorted(plan.redacted.items())),
    )
    return "\n".join(lines)


def as_document(
    plan: Plan, wishes: Wishes, report: IndexReport | None, *, dry_run: bool
) -> dict[str, Any]:
    """Return the plan under its JSON keys."""
    from agentlas_memory.commands.index import as_document as as_index_document

    return {
        "source": plan.origin.partition(":")[0],
        "place": plan.place,
        "dry_run": dry_run,
        "scope": wishes.scope,
        "found": plan.found,
        "added": [_step(step) for step in plan.of(ADDED)],
        "changed": [_step(step) for step in plan.of(CHANGED)],
        "removed": [_step(step) for step in plan.of(REMOVED)],
        "unchanged": plan.unchanged,
        "forgotten": plan.forgotten,
        "edited": plan.edited,
        "vanished": plan.vanished,
        "duplicates": [one._asdict() for one in plan.duplicates],
        "held": [one._asdict() for one in plan.held],
        "skipped": [one._asdict() for one in plan.left],
        "redacted": {place: dict(sorted(kinds.items())) for place, kinds in plan.redacted.items()},
        "remarks": plan.remarks,
        "index": as_index_document(report) if report else None,
    }


def _named(step: Step) -> str:
    """Return where a memory is from and its title, unless the place says that already."""
    return f"  {step.place}" if step.title in step.place else f"  {step.place}  {step.title}"


def _step(step: Step) -> dict[str, str]:
    return {
        "id": step.note.identity,
        "path": step.note.name,
        "place": step.place,
        "title": step.title,
    }


def _kinds(kinds: Counter[str]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))


def _section(title: str, entries: Iterable[str]) -> list[str]:
    told = list(entries)
    return [f"{title}: {len(told)}", *_some(f"  {one}" for one in told)] if told else []


def _some(lines: Iterable[str]) -> list[str]:
    told = list(lines)
    more = len(told) - _SHOWN
    return told[:_SHOWN] + ([f"  and {more} more; all of them with --json"] if more > 0 else [])
