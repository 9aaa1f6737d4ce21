"""What was found in an old store, what was carried over, and what was not, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agentlas_memory.redact import redact

_MOST_NAMES, _LONGEST_NAME = 5, 120
_MOST_REASONS = 60  # a store can be made to have one for each row


@dataclass
class LeftOut:
    """Things of one kind that were left in the old store for one reason."""

    what: str
    reason: str
    count: int = 0
    names: list[str] = field(default_factory=list)  # of the first few


@dataclass
class Report:
    """Numbers by kind, for people and for JSON."""

    found: dict[str, int | None] = field(default_factory=dict)  # None: could not be counted
    carried: dict[str, int] = field(default_factory=dict)
    left: dict[tuple[str, str], LeftOut] = field(default_factory=dict)
    private_notes: int = 0  # of the notes that are carried

    def carry(self, what: str, count: int = 1) -> None:
        """Count what is carried over."""
        self.carried[what] = self.carried.get(what, 0) + count

    def leave(self, what: str, reason: str, name: str = "", count: int = 1) -> None:
        """Count what is not, under its reason; a name is told without credentials."""
        if not count:
            return
        key = (what, told(reason))
        if key not in self.left and len(self.left) >= _MOST_REASONS:
            key = (what, "other reasons")
        entry = self.left.setdefault(key, LeftOut(*key))
        entry.count += count
        if name and len(entry.names) < _MOST_NAMES:
            entry.names.append(told(name))

    def leave_rest(self, what: str, reason: str) -> None:
        """Count all that was found of a kind, and neither carried nor left for another reason."""
        left = sum(one.count for one in self.left.values() if one.what == what)
        rest = (self.found.get(what) or 0) - self.carried.get(what, 0) - left
        self.leave(what, reason, count=max(0, rest))

    def add(self, other: Report) -> None:
        """Add what another report says was carried, and was not."""
        for what, count in other.carried.items():
            self.carry(what, count)
        for one in other.left.values():
            self.leave(one.what, one.reason, one.names[0] if one.names else "", one.count)

    def document(self) -> dict[str, Any]:
        """Return the report under its JSON keys."""
        left = sorted(self.left.values(), key=lambda one: (one.what, one.reason))
        return {
            "found": self.found,
            "carried": self.carried,
            "private_notes": self.private_notes,
            "not_carried": [
                {"what": o.what, "count": o.count, "reason": o.reason, "names": o.names}
                for o in left
            ],
        }


def told(name: str) -> str:
    """Return a name of a stranger's as it may be shown: one short line without credentials."""
    plain = "".join(char if char.isprintable() else " " for char in redact(name[:1000]))
    plain = " ".join(plain.split())
    return plain if len(plain) <= _LONGEST_NAME else f"{plain[:_LONGEST_NAME]}..."
