"""Credentials leave a text before it is stored and before it is shown."""

from agentlas_memory.redaction.triggers import may_hold_secret

# Stored with an index: a store built under older rules is built again.
REDACTION_VERSION: int = 5
# Two are what a text takes. A text made to take one for each of its keys shall not hold us up.
_MOST_ROUNDS = 12


def find_secrets(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, kind) of each credential, in order and without overlaps."""
    if not may_hold_secret(text):
        return []
    # Behind the question above because `re` costs as much as the whole interpreter start.
    from agentlas_memory.redaction.scan import scan

    return scan(text)


def redact(text: str) -> str:
    """Return the text with each credential replaced by `[redacted:<kind>]`."""
    for _ in range(_MOST_ROUNDS):
        spans = find_secrets(text)
        if not spans:
            break
        text = _replaced(text, spans)  # a key may begin where another one ended
    return text


def _replaced(text: str, spans: list[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, kind in spans:
        parts += text[done:start], "[redacted:", kind, "]"
        # A key of many lines leaves as many empty ones: what follows keeps its line number.
        parts.append("\n" * text.count("\n", start, end))
        done = end
    return "".join(parts) + text[done:]
