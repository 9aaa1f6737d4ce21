"""Ways to kill `agentlas-memory` at each of its steps, as a process of its own."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

DYING = Path(__file__).with_name("dying.py")
_CALLS = (
    "openat,write,fsync,rename,renameat2,unlink,unlinkat,rmdir,mkdir,chmod,fchmod,fchmodat,chown,"
    "fchown,symlink,ftruncate,setxattr,flock,vfork,clone"
)
_CALL = re.compile(r"(\w+)\((.*)")
_SECONDS = 60


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)


class Traced:
    """strace kills the process as it makes a system call."""

    def __init__(self, program):
        self.program, self.strace = str(program), shutil.which("strace")

    def works(self):
        return (
            self.strace is not None
            and run(self.strace, "-qq", "-o", os.devnull, "true").returncode == 0
        )

    def steps(self, trace, words):
        """Run the command and return its steps: a call's name, and the how-manieth of it."""
        asked = ["-e", f"trace={_CALLS}", "-o", str(trace)]
        assert run(self.strace, "-qq", *asked, self.program, *words).returncode == 0
        counts, found = Counter(), []
        for line in trace.read_text().splitlines():
            match = _CALL.match(line)
            if match:
                counts[match[1]] += 1
                if _changes_something(*match.groups()):
                    found.append((match[1], counts[match[1]]))
        return found

    def kill(self, step, words):
        call, number = step
        how = ["-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"]
        return run(self.strace, "-qq", "-o", os.devnull, *how, self.program, *words).returncode


def _changes_something(call, rest):
    if call == "openat":
        return "O_CREAT" in rest
    return not (call == "write" and rest.startswith(("1,", "2,")))


class Dying:
    """The process kills itself."""

    def works(self):
        return True

    def steps(self, trace, words):
        done = run(sys.executable, str(DYING), "0", *words)
        assert done.returncode == 0, done.stderr
        return range(1, int(done.stdout.split()[-1]) + 1)

    def kill(self, step, words):
        return run(sys.executable, str(DYING), str(step), *words).returncode
