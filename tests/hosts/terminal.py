"""A program on a terminal of 120 columns, by tmux: typed at, and looked at."""

import shlex
import shutil
import subprocess
from contextlib import contextmanager

import pytest
from hosts.processes import within

_SECONDS = 60


class Terminal:
    """A tmux server of its own with one window."""

    def __init__(self, socket):
        self._socket = socket

    def tmux(self, *words):
        command = ["tmux", "-f", "/dev/null", "-S", self._socket, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS).stdout

    def screen(self):
        """Return what stands on the screen."""
        return self.tmux("capture-pane", "-p")

    def type(self, text):
        """Type a line and press Enter, when the program has seen it."""
        self.tmux("send-keys", "-l", text)
        self.wait(lambda: text[:40] in self.screen())
        self.tmux("send-keys", "Enter")

    def wait(self, condition):
        """Wait until a condition holds."""
        assert within(_SECONDS, condition), self.screen()


@contextmanager
def terminal(host, folder):
    """Run a host's program on a terminal; end the terminal, and it with it, afterwards."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    values = host.environment | {"TERM": "tmux-256color"}
    settings = (f"{name}={value}" for name, value in values.items())
    words = shlex.join(["env", "-i", *settings, str(host.program)])
    window = Terminal(str(folder / "tmux"))
    window.tmux("new-session", "-d", "-x", "120", "-y", "40", "-c", str(host.project), words)
    try:
        yield window
    finally:
        window.tmux("kill-server")
