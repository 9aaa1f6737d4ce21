"""A host that takes our plugin by its own command line, from the marketplace folder."""

from __future__ import annotations

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
from agentlas_memory.installer.surfaces import Detected, HostCommands, Place, Surface

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

    def detect(self, place: Place, run: Callable[[list[str]], str | None]) -> Detected | None:
        """Return the host if its program runs; with a folder alone nothing can be installed."""
        program = shutil.which(self.program, path=place.environment.get("PATH"))
        answer = run([program, "--version"]) if program else None
        if program is None or answer is None:
            return Detected("", "") if self.home(place).is_dir() else None
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
            homes=(self.home(place),),
            leftovers=self._leftovers(place),
        )
        return [*marketplace_surfaces(place), commands]

    def _leftovers(self, place: Place) -> tuple[Path, ...]:
        plugins = self.home(place) / "plugins"
        return plugins / "cache" / MARKETPLACE, plugins / "data" / f"{PLUGIN}-{MARKETPLACE}"

    def home(self, place: Place) -> Path:
        """Return the host's own folder."""
        return place.folder(self.variable, place.home / self.folder)
