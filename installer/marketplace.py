"""One plugin marketplace that serves two hosts: Claude Code and Codex.

Each host's own files are in its `payload/`; this module says where they lie in the one folder. The
bytes carry no version of this package, only that of the contract in the two `plugin.json`: Codex
trusts the plugin's folder as a whole, and one changed byte in it silences the hook until the person
has trusted it again.
"""

from __future__ import annotations

import json
import shlex
from importlib import resources
from pathlib import Path

from agentlas_memory.installer.surfaces import Place, WholeFile

MARKETPLACE = "agentlas"
PLUGIN = "agentlas-memory"
PLUGIN_ID = f"{PLUGIN}@{MARKETPLACE}"

PLUGIN_FOLDER = f"plugins/{PLUGIN}"
# Path in the marketplace -> the host whose payload it is, and its name there.
_FILES = {
    ".claude-plugin/marketplace.json": ("claude", "marketplace.json"),
    ".agents/plugins/marketplace.json": ("codex", "marketplace.json"),
    f"{PLUGIN_FOLDER}/.claude-plugin/plugin.json": ("claude", "plugin.json"),
    f"{PLUGIN_FOLDER}/.codex-plugin/plugin.json": ("codex", "plugin.json"),
    # Claude reads this name by itself; Codex's manifest names its own file instead.
    f"{PLUGIN_FOLDER}/hooks/hooks.json": ("claude", "hooks.json"),
    f"{PLUGIN_FOLDER}/hooks/codex.json": ("codex", "hooks.json"),
}


def marketplace_files(place: Place) -> dict[str, str]:
    """Return the marketplace's files: path below `Place.marketplace` -> text."""
    return {
        path: _fill_in(_payload(host, name), place.hook) for path, (host, name) in _FILES.items()
    }


def marketplace_surfaces(place: Place) -> list[WholeFile]:
    """Return all of them for either host: a file that came later would cost Codex's trust."""
    files = marketplace_files(place)
    return [WholeFile(place.marketplace / path, text) for path, text in files.items()]


def plugin_version(host: str) -> str:
    """Return the contract's version, under which a host keeps its copy of the plugin."""
    return str(json.loads(_payload(host, "plugin.json"))["version"])


def _payload(host: str, name: str) -> str:
    package = resources.files(f"agentlas_memory.host_adapters.{host}")
    return (package / "payload" / name).read_text(encoding="utf-8")


def _fill_in(template: str, hook: Path) -> str:
    """Put the program's path, quoted for a shell and for JSON, in its places."""
    posix = hook.as_posix()  # a backslash would not survive a POSIX shell on Windows
    powershell = "'" + posix.replace("'", "''") + ".cmd'"
    windows = template.replace("{hook_windows}", json.dumps(powershell)[1:-1])
    return windows.replace("{hook}", json.dumps(shlex.quote(posix))[1:-1])
