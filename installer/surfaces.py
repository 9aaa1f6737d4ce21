"""What of a host's files is ours: a whole file, one entry, one block, or what its own command adds.

A host's `install_spec` names these; nothing else of a host is ever written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agentlas_memory.installer.starts import Start


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file that is ours from the first byte to the last."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class JsonEntry:
    """One key of the object in a strict JSON file; all other bytes are the user's."""

    path: Path
    key: str
    value: object


@dataclass(frozen=True, slots=True)
class MarkedBlock:
    """The lines between our two markers in a text file, markers included."""

    path: Path
    begin: str
    end: str
    text: str


@dataclass(frozen=True, slots=True)
class HostCommands:
    """What the host's own command line adds and removes; it edits its own files.

    Each command is the arguments of the host's program. We are there if the output of `query`
    holds `mark`. `leftovers` are folders of ours that the host's own `uninstall` leaves; once they
    are gone too, no file of `homes` (folders, or files) should name us.
    """

    query: tuple[str, ...]
    mark: str
    install: tuple[tuple[str, ...], ...]
    uninstall: tuple[tuple[str, ...], ...]
    homes: tuple[Path, ...]
    leftovers: tuple[Path, ...] = ()


Surface = WholeFile | JsonEntry | MarkedBlock | HostCommands


@dataclass(frozen=True, slots=True)
class Place:
    """Where things are on this machine: the person's home, ours, and the environment."""

    home: Path
    data_home: Path  # ~/.agentlas
    environment: Mapping[str, str]

    def folder(self, variable: str, default: Path) -> Path:
        """Return the folder that an environment variable names; blank counts as unset."""
        named = self.environment.get(variable, "").strip()
        return Path(named) if named else default

    @property
    def hook(self) -> Path:
        """The program that host entries name: it stays where it is when the runtime changes."""
        return self.data_home / "runtime" / "current" / "bin" / "agentlas-memory-hook"

    @property
    def marketplace(self) -> Path:
        """The unversioned folder that Claude's and Codex's plugin commands are given."""
        return self.data_home / "marketplace"


@dataclass(frozen=True, slots=True)
class Detected:
    """A host that is here: its program, blank where there is only a folder, and its version."""

    program: str
    version: str


class HostSpec(Protocol):
    """What `host_adapters/<host>/install_spec.py` offers as `SPEC`."""

    name: str  # as in `--host`
    title: str  # as people call it
    verified: str  # the newest version that conformance was run on
    oldest: str  # the first version with the hooks we need
    note: str  # what a person should know before the first start, blank for nothing
    # How a capsule gets before the model: `context`, where it stays; `call`, for one model call or
    # the calls of one turn; `pointer`, in a file that the model is told to read.
    delivery: str

    def detect(self, place: Place, run: Callable[[list[str]], str | None]) -> Detected | None:
        """Return the host if it is here; `run` returns a command's output, None if it failed."""

    def surfaces(self, place: Place) -> list[Surface]:
        """Return all that is to be ours, in the order in which it is put there."""

    def homes(self, place: Place) -> tuple[Path, ...]:
        """Return the folders and files in which the host keeps its own: settings, and sessions."""

    def commands_in(self, text: str) -> list[str]:
        """Return the commands that a file of ours has the host run."""

    def start(self, command: str, project: Path) -> Start:
        """Return how the host starts one of them at a prompt, or a start, in a project."""

    def heard(self, output: bytes, data_home: Path) -> str:
        """Return what an answer puts before the model; blank for one that the host drops."""
