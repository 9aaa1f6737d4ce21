"""A host that takes our plugin by its own command line, from the marketplace folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentlas_memory.installer.marketplace import (
    MARKETPLACE,
    PLUGIN,
    PLUGIN_ID,
    marketplace_surfaces,
)
from agentlas_memory.installer.starts import SAMPLE_PROMPT, Start, event_in, json_commands
from agentlas_memory.installer.surfaces import Detected, HostCommands, Place, Surface

_CONTEXT = "additionalContext"
_QUERY = ("plugin", "list", "--json")  # what is installed, as both hosts spell it


@dataclass(frozen=True, slots=True)
class PluginHost:
    """The HostSpec of such a host; the two differ in two words of their commands."""

    name: str
    title: str
    verified: str
    oldest: str
    note: str
    delivery: str
    program: str
    variable: str  # names the host's folder where that is not below the person's home
    folder: str
    add: str  # `plugin <add> NAME@MARKET`
    remove: str
    runs_copy: bool  # from its own cache, or from the marketplace's folder
    shell: Callable[[], str]
    beside: tuple[str, ...] = ()  # files of its in the person's home, beside its folder

    def detect(self, place: Place, run: Callable[[list[str]], str | None]) -> Detected | None:
        """Return the host if its program runs: only that takes a plugin, a folder is not enough."""
        program = shutil.which(self.program, path=place.environment.get("PATH"))
        answer = run([program, "--version"]) if program else None
        if program is None or answer is None:
            return None
        version = next((word for word in answer.split() if word[:1].isdigit()), "")
        return Detected(program, version)

    def surfaces(self, place: Place) -> list[Surface]:
        """Return the marketplace's files, then what the host's commands do with them."""
        commands = HostCommands(
            query=_QUERY,
            mark=PLUGIN_ID,
            install=(
                ("plugin", "marketplace", "add", str(place.marketplace)),
                ("plugin", self.add, PLUGIN_ID),
            ),
            uninstall=(
                ("plugin", self.remove, PLUGIN_ID),
                ("plugin", "marketplace", "remove", MARKETPLACE),
            ),
            homes=self.homes(place),
            leftovers=self._leftovers(place),
        )
        return [*marketplace_surfaces(place), commands]

    def homes(self, place: Place) -> tuple[Path, ...]:
        """Return where the host keeps its files: all in one folder, where the person names one."""
        home = self.home(place)
        own = home == place.home / self.folder
        return home, *(place.home / name for name in self.beside if own)

    def _leftovers(self, place: Place) -> tuple[Path, ...]:
        data = self.home(place) / "plugins" / "data" / f"{PLUGIN}-{MARKETPLACE}"
        return self.cache(place), data

    def cache(self, place: Place) -> Path:
        """Return where the host keeps copies of our plugin, a folder a version."""
        return self.home(place) / "plugins" / "cache" / MARKETPLACE

    def home(self, place: Place) -> Path:
        """Return the host's own folder."""
        return place.folder(self.variable, place.home / self.folder)

    def commands_in(self, text: str) -> list[str]:
        """Return the commands of the hooks file that is this host's."""
        return json_commands(text, self.name)

    def start(self, command: str, project: Path) -> Start:
        """Return how the host starts a command: by its shell, in the session's folder."""
        fields = {
            "session_id": "doctor",
            "transcript_path": "",
            "cwd": str(project),
            "hook_event_name": event_in(command),
            "source": "startup",
            "prompt": SAMPLE_PROMPT,
        }
        return Start((self.shell(), "-c", command), project, json.dumps(fields).encode())

    def heard(self, output: bytes, _data_home: Path) -> str:
        """Return the context in an answer; the form is strict, a key too many and it is dropped."""
        try:
            ((name, answer),) = json.loads(output).items()
            if name == "hookSpecificOutput" and set(answer) == {"hookEventName", _CONTEXT}:
                return str(answer[_CONTEXT])
        except (AttributeError, TypeError, ValueError):
            pass
        return ""
