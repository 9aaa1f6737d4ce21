"""Run processes one after another and measure each, from a process that is itself small.

A script for `python -I -S`. A process starts with its parent's peak memory as its own (Linux keeps
it through fork and exec), and a large parent forks slowly: so the program that wants the figures,
heavy with libraries, has this one start the measured processes. They talk in marshalled tuples.
"""

import marshal
import os
import sys
from time import perf_counter


def run(
    arguments: list[str], environment: dict[str, str], folder: str, stdin: bytes
) -> tuple[int, float, int, bytes]:
    """Return exit code, seconds, peak resident memory (in the system's unit) and output.

    Input and output must fit a pipe's buffer: both ends are served before and after, not during.
    """
    os.chdir(folder)
    input_end, event_end = os.pipe()
    output_end, answer_end = os.pipe()
    os.write(event_end, stdin)
    os.close(event_end)
    actions = [
        (os.POSIX_SPAWN_DUP2, input_end, 0),
        (os.POSIX_SPAWN_DUP2, answer_end, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    start = perf_counter()
    child = os.posix_spawn(arguments[0], arguments, environment, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    seconds = perf_counter() - start
    os.close(input_end)
    os.close(answer_end)
    with open(output_end, "rb") as answer:  # noqa: PTH123 - a descriptor, not a path
        return os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss, answer.read()


if __name__ == "__main__":
    while True:
        try:
            request = marshal.load(sys.stdin.buffer)
        except EOFError:
            break
        marshal.dump(run(*request), sys.stdout.buffer)
        sys.stdout.buffer.flush()
