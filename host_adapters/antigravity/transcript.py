"""The last prompt in Antigravity's transcript: JSON lines that the host appends to.

Read on request only. A line that a person wrote has `source` USER_EXPLICIT and `type` USER_INPUT;
text that hooks put in (ours too) has another source. The prompt stands between two tags and is not
escaped, so that it may hold the tags itself.
"""

from time import monotonic, sleep

from agentlas_memory.events import text_field
from agentlas_memory.lean import parse_json, system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 16 << 20  # from the end; what a turn's tools print comes after its prompt
_FIRST_BLOCK = 1 << 16
_PATIENCE = 0.15  # seconds: some versions write the line while the hook starts
_PAUSE = 0.03
_OPEN, _CLOSE = "<USER_REQUEST>\n", "\n</USER_REQUEST>"


def last_prompt(path: str, begins: bool) -> str:
    """Return the prompt of the running turn, blank when it cannot be told.

    `begins` says that the turn's first model call is due: a line of the model's after the last
    prompt then means that the new prompt is not written yet, and it is waited for.
    """
    end = monotonic() + _PATIENCE
    while True:
        prompt = _read_prompt(path, begins)
        if prompt is not None or not begins or monotonic() >= end:
            return prompt or ""
        sleep(_PAUSE)


def _read_prompt(path: str, begins: bool) -> str | None:
    try:
        for line in _lines_from_end(path):
            if (prompt := _prompt_of(line, begins)) is not None:
                return prompt
    except (_AnotherTurn, OSError, ValueError):  # ValueError: a NUL in the path
        pass
    return None


class _AnotherTurn(Exception):
    """No person began the running turn, or what they asked is not written yet."""


def _prompt_of(line: bytes, begins: bool) -> str | None:
    """Return the prompt that a line holds, None for another line."""
    if not (begins or b'"USER_EXPLICIT"' in line or b'"SYSTEM_MESSAGE"' in line):
        return None
    try:
        step = parse_json(line.decode("utf-8", "replace"))
    except ValueError:
        step = None  # the last line may be half written
    if not isinstance(step, dict):
        return None
    source, kind = text_field(step, "source"), text_field(step, "type")
    if (source, kind) == ("USER_EXPLICIT", "USER_INPUT"):
        return _between_tags(text_field(step, "content"))
    # The host wakes the model itself, when a sub-agent has finished for one.
    if (source, kind) == ("SYSTEM", "SYSTEM_MESSAGE") or (begins and source == "MODEL"):
        raise _AnotherTurn
    return None


def _between_tags(content: str) -> str:
    _, opened, rest = content.partition(_OPEN)
    prompt, closed, _ = rest.rpartition(_CLOSE)
    return prompt if opened and closed else rest  # the shortened transcript may lack the end


def _lines_from_end(path: str) -> "Iterator[bytes]":
    """Yield the lines of a regular file, the last one first; opened without blocking."""
    flags = system.O_RDONLY | getattr(system, "O_NONBLOCK", 0) | getattr(system, "O_BINARY", 0)
    handle = system.open(path, flags | getattr(system, "O_CLOEXEC", 0))
    try:
        info = system.fstat(handle)
        if info.st_mode & 0o170000 != 0o100000:
            raise OSError(f"not a regular file: {path}")
        rest = b""
        end, size = info.st_size, _FIRST_BLOCK
        first = max(0, end - MOST_BYTES)
        while end > first:
            start = max(first, end - size)
            system.lseek(handle, start, 0)
            head, *lines = (system.read(handle, end - start) + rest).split(b"\n")
            yield from reversed(lines)
            rest, end, size = head, start, size * 2
        if first == 0:  # else its beginning is out of reach
            yield rest
    finally:
        system.close(handle)
