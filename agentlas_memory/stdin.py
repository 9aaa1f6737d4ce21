"""Reading the host's event: one JSON value, whenever it is complete."""

from agentlas_memory.deadline import Deadline, DeadlineReached
from agentlas_memory.lean import parse_json, system

_BLOCK = 1 << 16
_LARGEST = 64 << 20  # nobody asks that much; beyond, the rest is read and dropped
_PAUSE = 0.005  # seconds


def read_event(handle: int, deadline: Deadline) -> dict[str, object]:
    """Return the JSON object on a pipe or file, an empty one when there is none.

    A host need not close the pipe: reading ends with the value. Nothing is left unread in the
    middle of a value, since the host would meet a broken pipe.
    """
    data = system.read(handle, _BLOCK)
    if len(data) < _BLOCK and (event := _complete(data)) is not None:
        return event  # nearly every event arrives in one piece
    blocks = [data]
    size, tried, end = len(data), 0, b""
    while data:
        end = data.rstrip()[-1:] or end
        # A pause says that the value may be whole. An attempt costs as much as the value is long,
        # so one that has not doubled since the last attempt takes a longer pause.
        if end == b"}" and not _readable(handle, _PAUSE if size >= 2 * tried else 10 * _PAUSE):
            tried = size
            if (event := _complete(b"".join(blocks))) is not None:
                return event
        if not _readable(handle, max(0.0, deadline.left() / 1000)):
            raise DeadlineReached
        data = system.read(handle, 1 << 20)
        if size < _LARGEST:
            blocks.append(data)
        size += len(data)
    return _complete(b"".join(blocks)) or {}


def _readable(handle: int, seconds: float) -> bool:
    """Wait for more input, or for its end."""
    from select import select

    try:
        return bool(select([handle], [], [], seconds)[0])
    except (OSError, ValueError):  # Windows cannot wait for a pipe: read it to its end
        return True


def _complete(data: bytes) -> dict[str, object] | None:
    """Return the object that these bytes hold, None while they hold no complete value."""
    if not data.strip():
        return None
    try:
        value = parse_json(data.decode("utf-8", "replace"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else {}
