"""Start hooks one after another from a process that is itself small, and measure each.

A script for `python -I -S`: a process starts with its parent's peak memory as its own, so a program
heavy with libraries has this one start what it measures. They talk in marshalled tuples.
"""

import contextlib
import marshal
import os
import signal
import sys
import tempfile
from time import perf_counter

_PIPE = 60_000  # bytes that a pipe holds at any rate
_HANGS = 20  # seconds after which a process is ended


def run(
    arguments: list[str], environment: dict[str, str], folder: str, stdin: bytes
) -> tuple[int, float, int, bytes, bytes]:
    """Return exit code (negative: a signal), seconds, peak memory in KiB, stdout and stderr."""
    os.chdir(folder)
    given = _as_input(stdin)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        ends = ((given, 0), (output.fileno(), 1), (errors.fileno(), 2))
        actions = [(os.POSIX_SPAWN_DUP2, end, number) for end, number in ends]
        start = perf_counter()
        child = os.posix_spawn(arguments[0], arguments, environment, file_actions=actions)
        signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
        signal.alarm(_HANGS)
        _, status, usage = os.wait4(child, 0)
        signal.alarm(0)
        seconds = perf_counter() - start
        os.close(given)
        output.seek(0)
        errors.seek(0)
        code = os.waitstatus_to_exitcode(status)
        return code, seconds, usage.ru_maxrss, output.read(), errors.read()


def _as_input(data: bytes) -> int:
    """Return a descriptor to read `data` from: a pipe, as hosts use, where it fits one."""
    if len(data) <= _PIPE:
        end, other = os.pipe()
        os.write(other, data)
        os.close(other)
        return end
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        end = os.dup(file.fileno())
    os.lseek(end, 0, os.SEEK_SET)
    return end


if __name__ == "__main__":
    with contextlib.suppress(EOFError):
        while True:
            request = marshal.load(sys.stdin.buffer)
            marshal.dump(run(*request), sys.stdout.buffer)
            sys.stdout.buffer.flush()
