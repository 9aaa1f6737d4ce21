"""Checks that are the same on several hosts, each named by the tests that make it."""

from pathlib import Path

from hosts.model_server import ANSWER
from hosts.processes import all_end
from hosts.scene import QUESTION, TROUBLES, changed, files_in, that_name_us

from agentlas_memory.home import CHILD_VARIABLE


def check_trouble(host, holds, trouble):
    """Ask with something else in the hook's place: answered, and nothing told."""
    host.replace_hook(TROUBLES[trouble])
    host.ask(QUESTION)
    holds(f"with the hook {trouble} the turn goes on", host.answers == [ANSWER], host.answers)
    holds(f"with the hook {trouble} nothing is told", host.told() == [], host.told())


def check_slow_hook(host, holds):
    """Ask while the hook of both events sleeps for a minute."""
    seconds, pids = host.ask_with_a_slow_hook(QUESTION)
    holds("with the hook slow the turn goes on", host.answers == [ANSWER], host.answers)
    holds("each event waits for 5 seconds at most", seconds < 40, f"{seconds:.1f} s")
    holds("no slow hook is left behind", len(pids) == 2 and all_end(pids, 2), pids)


def check_our_own_run(host, holds):
    """Ask a host that a process of ours has started."""
    host.variables[CHILD_VARIABLE] = "1"
    host.ask(QUESTION)
    holds("a run that inherits our mark is told nothing", host.told() == [], host.told())


def check_second_install(host, holds, where=""):
    """Install, twice: the whole home has the same bytes and modes."""
    host.install()
    before = files_in(host.home)
    host.install()
    again = changed(before, files_in(host.home))
    holds(f"a second installation changes no byte of the home{where}", again == [], again)


def check_uninstall(host, holds, where=""):
    """Install and uninstall: the whole home has the bytes and modes that it had."""
    before = files_in(host.home)
    host.install()
    assert changed(before, files_in(host.home))
    host.uninstall()
    left = changed(before, files_in(host.home))
    holds(f"after `uninstall` the whole home is as before, byte for byte{where}", not left, left)


def check_left(host, holds, left):
    """What of the host's own still holds the program's name is below something in `left`."""
    named = that_name_us(files_in(host.home), "agentlas-memory")
    paths = [host.home / name for name in named if not name.startswith("project/")]
    told = set(map(Path, left))
    untold = [path for path in paths if told.isdisjoint([path, *path.parents])]
    holds("`uninstall` lists what of the host's own still names the program", not untold, untold)
