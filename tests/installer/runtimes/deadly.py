"""`agentlas-memory`, ended by a signal at a named step of an update.

python deadly.py STEP before|during WORDS...: killed as the step begins, or a moment into it.
"""

import os
import signal
import sys
import threading
from contextlib import contextmanager

from agentlas_memory.installer.runtimes import steps

target, moment = sys.argv[1:3]
sys.argv[1:3] = []
real = steps.step
INTO = 0.15  # seconds: pip, the compiler and a host's merge run longer


def die():
    os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def deadly(name):
    with real(name):
        if name == target:
            if moment == "before":
                die()
            threading.Timer(INTO, die).start()
        yield
        if name == target:
            die()


steps.step = deadly  # before the modules that use it take it

from agentlas_memory.cli import main  # noqa: E402

main()
