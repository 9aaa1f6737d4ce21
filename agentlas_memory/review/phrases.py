"""What a rule about a text is: its kind, the words without which it cannot fit, and a pattern."""

from __future__ import annotations

import re
from typing import NamedTuple


class Rule(NamedTuple):
    """Fits a text that holds one of `needs` (a cheap question) and matches `pattern`."""

    name: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]

    def fits(self, text: str) -> bool:
        """Tell whether the text says what this rule is about."""
        return any(word in text for word in self.needs) and bool(self.pattern.search(text))


def rule(name: str, needs: str, pattern: str) -> Rule:
    """Return a rule; `needs` are words, or parts of words, of which the text must hold one."""
    return Rule(name, tuple(needs.split("|")), re.compile(pattern))
