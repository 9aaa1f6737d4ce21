"""Editing people's files as text: what is ours goes in and comes out, all other bytes stay."""

from __future__ import annotations


class Unparsable(ValueError):
    """A file that is not to be touched: what is wrong with it, and in which line."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def newline_of(text: str) -> str:
    """Return how the first line ends, for the lines that we add."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"
