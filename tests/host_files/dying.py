"""Run `agentlas-memory` and die by SIGKILL before the N-th step that it takes: N WORDS...

A step is whatever changes something: opening a file to write it, fsync, renaming, removing, making
folders and links, modes, locks, other programs. `0` takes all of them and prints how many there
are. For machines on which nothing may be traced.
"""

import os
import signal
import sys

from agentlas_memory.cli import main

CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
EVENTS = {"os.remove", "os.rmdir", "os.mkdir", "os.rename", "os.chmod", "os.chown", "os.symlink"}
# The C library is opened anew before each of the two renamings that Python does not offer.
EVENTS |= {"fcntl.flock", "subprocess.Popen", "ctypes.dlopen", "os.setxattr"}

last, taken = int(sys.argv.pop(1)), 0


def step():
    global taken
    taken += 1
    if taken == last:
        os.kill(os.getpid(), signal.SIGKILL)


def on_event(event, args):
    if event in EVENTS or (event == "open" and isinstance(args[2], int) and args[2] & CHANGES):
        step()


def fsync(descriptor, real=os.fsync):
    step()
    real(descriptor)


if __name__ == "__main__":
    os.fsync = fsync
    sys.addaudithook(on_event)
    try:
        main()
    finally:
        if not last:
            sys.__stdout__.write(f"\n{taken}\n")
