"""Reading the host's event: one JSON value, whenever it is complete."""

from agentlas_memory.deadline import Deadline, DeadlineReached
from agentlas_memory.lean import parse_json, system

_BLOCK = 1 << 16
_LARGEST = 64 << 20  # nobody asks that much; beyond, the rest is read and dropped


def read_event(handle: int, deadline: Deadline) -> dict[str, object]:
    """Return the JSON object on a pipe or file, an empty one when there is none.

    A host need not close the pipe: reading ends with the value. Nothing is left unread in the
    middle of a value, since the host would meet a broken pipe.
    """
    data = system.read(handle, _BLOCK)
    if len(data) < _BLOCK and (event := _complete(data)) is not None:
        return event  # nearly every event arrives in one piece
    blocks = [data]
    size = tried = len(data)
    while data and _readable(handle, deadline, 0.05 if data.rstrip()[-1:] == b"}" else None):
        data = system.read(handle, 1 << 20)
        if size < _LARGEST:
            blocks.append(data)
        size += len(data)
        # An attempt costs as much as the value is long; a value that grows slowly is not tried
        # again before it has doubled, or a pause says that it may be whole.
        if data.rstrip()[-1:] == b"}" and (size >= 2 * tried or not _readable(handle, None, 0.0)):
            tried = size
            if (event := _complete(b"".join(blocks))) is not None:
                return event
    return _complete(b"".join(blocks)) or {}


def _readable(handle: int, deadline: Deadline | None, pause: float | None) -> bool:
    """Wait for more input: until the deadline, or for `pause` seconds where a value may be whole."""
    from select import select

    try:
        if deadline is None:
            return bool(select([handle], [], [], pause)[0])
        left = deadline.left() / 1000
        if left <= 0:
            raise DeadlineReached
        if pause is not None:
            return bool(select([handle], [], [], min(left, pause))[0])
        if not select([handle], [], [], left)[0]:
            raise DeadlineReached
    except (OSError, ValueError):  # Windows cannot wait for a pipe: read it to its end
        pass
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
