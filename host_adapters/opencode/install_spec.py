"""OpenCode: one plugin file in its configuration folder."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from agentlas_memory.installer.starts import SAMPLE_PROMPT, Start
from agentlas_memory.installer.surfaces import Detected, Place, Surface, WholeFile

_PLUGIN = Path(__file__).with_name("payload") / "agentlas-memory.js"
_ARGUMENTS = ("--host", "opencode", "--event", "chat.message")  # as in that file


class OpenCode:
    """OpenCode's place in the table of hosts; a `HostSpec`."""

    name = "opencode"
    title = "OpenCode"
    verified = "1.18.33"
    oldest = "1.1.16"  # the first to tell `experimental.chat.system.transform` whose session it is
    note = (
        "With any plugin, OpenCode waits at its start until npm has put @opencode-ai/plugin beside"
        " it, once. Start OpenCode with a network the first time: without one, each start takes"
        " more than a minute until that has worked."
    )
    delivery = "call"

    def detect(self, place: Place, run: Callable[[list[str]], str | None]) -> Detected | None:
        """Return OpenCode, from the path or where its own installer puts it, if it is here."""
        for program in ("opencode", str(place.home / ".opencode" / "bin" / "opencode")):
            answer = run([program, "--version"])
            if answer is not None:
                version = re.search(r"\d+\.\d+\.\d+\S*", answer)
                return Detected(program, version[0] if version else "")
        return Detected("", "") if config_folder(place).is_dir() else None

    def surfaces(self, place: Place) -> list[Surface]:
        """Return the plugin file."""
        return [WholeFile(config_folder(place) / "plugins" / _PLUGIN.name, plugin_text(place))]

    def homes(self, place: Place) -> tuple[Path, ...]:
        """Return its folders of settings, of sessions and of what it had open."""
        data = place.folder("XDG_DATA_HOME", place.home / ".local" / "share")
        state = place.folder("XDG_STATE_HOME", place.home / ".local" / "state")
        return config_folder(place), data / "opencode", state / "opencode"

    def commands_in(self, text: str) -> list[str]:
        """Return the command that the plugin starts: it is a program and its arguments."""
        hook = re.search(r'^const HOOK = (".*")$', text, re.MULTILINE)
        return [shlex.join([json.loads(hook[1]), *_ARGUMENTS])] if hook else []

    def start(self, command: str, project: Path) -> Start:
        """Return how the plugin starts it: without a shell."""
        fields = {
            "cwd": str(project),
            "prompt": SAMPLE_PROMPT,
            "session": "doctor",
            "message": "doctor",
            "subagent": False,
        }
        return Start(tuple(shlex.split(command)), project, json.dumps(fields).encode())

    def heard(self, output: bytes, _data_home: Path) -> str:
        """Return the answer: it is the capsule itself."""
        return output.decode("utf-8", "replace")


def config_folder(place: Place) -> Path:
    """Return the folder whose plugins OpenCode loads in every project."""
    base = place.folder("XDG_CONFIG_HOME", place.home / ".config")
    return place.folder("OPENCODE_CONFIG_DIR", base / "opencode")


def plugin_text(place: Place) -> str:
    """Return the plugin with this machine's paths in it; JSON strings are JavaScript's too."""
    text = _PLUGIN.read_text(encoding="utf-8")
    text = text.replace("{hook}", json.dumps(place.hook.as_posix()))
    return text.replace("{settings}", json.dumps(str(place.data_home / "settings.json")))


SPEC = OpenCode()
