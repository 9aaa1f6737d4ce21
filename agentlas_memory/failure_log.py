"""One bounded line for each failure the hook swallowed: `~/.agentlas/state/hook.log`.

What went wrong and where, never what was asked or found. Read by `status` and `doctor`.
"""

import sys
from time import gmtime, strftime

from agentlas_memory.lean import TYPE_CHECKING, make_private_folder, system

if TYPE_CHECKING:
    from types import TracebackType

LARGEST = 256 << 10  # bytes; then the file becomes hook.log.1
_LONGEST_LINE = 400
_REPORTING = ("_place", "_line", "log_failure", "report")  # functions between the failure and here


def log_failure(home: str, host: str, error: BaseException) -> None:
    """Append a line about a swallowed error; a log that cannot be written is no error."""
    if not home:
        return
    try:
        make_private_folder(home + "/state")
        path = home + "/state/hook.log"
        _rotate(path)
        flags = system.O_WRONLY | system.O_CREAT | system.O_APPEND
        for name in ("O_NOFOLLOW", "O_NONBLOCK"):  # a FIFO put there must not hold the prompt
            flags |= getattr(system, name, 0)
        handle = system.open(path, flags, 0o600)
        system.write(handle, _line(host, error).encode("utf-8", "replace"))
        system.close(handle)
    except (OSError, ValueError):
        pass


def _line(host: str, error: BaseException) -> str:
    now = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
    text = f"{now} {host or '-'} {type(error).__name__} at {_place(error.__traceback__)}"
    if reason := _reason(error):
        text += f": {reason}"
    return "".join(c if c.isprintable() else " " for c in text)[:_LONGEST_LINE] + "\n"


def _reason(error: BaseException) -> str:
    """Return the part of a message that is ours or the system's.

    An error that was never raised is a complaint of ours. Others quote what they choked on: a
    KeyError a word, SQLite a query, an OSError a path.
    """
    cause = error.__cause__ or error
    if isinstance(cause, OSError):
        return cause.strerror or ""
    ours = error.__traceback__ is None or type(error).__name__ == "StoreUnusable"
    return str(error) if ours else ""


def _place(trace: "TracebackType | None") -> str:
    """Return where an error was raised; where one was made that nobody raised, who reports it."""
    if trace is None:
        frame = sys._getframe()
        while frame.f_back and frame.f_code.co_name in _REPORTING:
            frame = frame.f_back
        return _file_and_line(frame.f_code.co_filename, frame.f_lineno)
    while trace.tb_next is not None:
        trace = trace.tb_next
    return _file_and_line(trace.tb_frame.f_code.co_filename, trace.tb_lineno)


def _file_and_line(file: str, line: int) -> str:
    return f"{file.rpartition('/')[2]}:{line}"


def _rotate(path: str) -> None:
    try:
        if system.stat(path).st_size >= LARGEST:
            system.replace(path, path + ".1")
    except FileNotFoundError:
        pass
