"""What is ours in Antigravity: one named hook in the user's own hooks file.

The user's file alone, not a plugin: versions differ in where they look for a plugin's hooks, and a
hook that is found twice runs twice.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path, PurePath

from agentlas_memory.installer.formats.json_entry import read_entry
from agentlas_memory.installer.starts import Start, json_commands
from agentlas_memory.installer.surfaces import Detected, HostSpec, JsonEntry, Place, Surface

_PAYLOAD = Path(__file__).with_name("payload")
_PROGRAM = "agy"
_KEY = "agentlas-memory"


class AntigravitySpec:
    """Antigravity's command line, its editor and its agent manager: they read one file."""

    name = "antigravity"
    title = "Antigravity"
    # Of the engine in google-antigravity, the only part on a package index. `agy` and the
    # editor count otherwise (1.x, 2.x): what they answer is therefore newer than verified.
    verified = "0.1.22"
    oldest = "1.1.5"  # of `agy`: the first that is known to have this contract
    note = "`agy -p` opens no workspace without `--add-dir`: without one memory is silent."
    delivery = "call"

    def detect(self, place: Place, run: Callable[[list[str]], str | None]) -> Detected | None:
        """Return the host if its program answers or it has a folder in the person's home."""
        answer = run([_PROGRAM, "--version"])
        if answer is not None:
            number = re.search(r"\d+(?:\.\d+)+", answer)
            return Detected(_PROGRAM, number.group() if number else "")
        folders = self.homes(place)
        return Detected("", "") if any(folder.is_dir() for folder in folders) else None

    def surfaces(self, place: Place) -> list[Surface]:
        """Return our entry in `~/.gemini/config/hooks.json`."""
        path = place.home / ".gemini" / "config" / "hooks.json"
        return [JsonEntry(path, *render_entry(place.hook, windows=sys.platform == "win32"))]

    def homes(self, place: Place) -> tuple[Path, ...]:
        """Return the folder of its settings, and one for each of its programs."""
        return place.home / ".gemini" / "config", *sorted(place.home.glob(".gemini/antigravity*"))

    def commands_in(self, text: str) -> list[str]:
        """Return the commands of our entry in the user's hooks file."""
        return json_commands(json.dumps(read_entry(text, _KEY)), self.name)

    def start(self, command: str, project: Path) -> Start:
        """Return how the host starts a command: in the folder of its hooks file."""
        folder = Path.home() / ".gemini" / "config"
        fields = {
            "conversationId": "doctor",
            "workspacePaths": [str(project)],
            "transcriptPath": "",
            "artifactDirectoryPath": "",
            "modelName": "",
            "invocationNum": 0,
            "initialNumSteps": 1,
        }
        return Start(("sh", "-c", command), folder, json.dumps(fields).encode())

    def heard(self, output: bytes, _data_home: Path) -> str:
        """Return the message in an answer; the form is strict, a key too many and it is dropped."""
        try:
            ((name, steps),) = json.loads(output).items()
            ((kind, text),) = steps[0].items()
            if (name, kind, len(steps)) == ("injectSteps", "ephemeralMessage", 1):
                return str(text)
        except (AttributeError, IndexError, TypeError, ValueError):
            pass
        return ""


SPEC: HostSpec = AntigravitySpec()


def render_entry(hook: PurePath, *, windows: bool) -> tuple[str, object]:
    """Return our key and its value; a hook that is missing answers `{}`, as one with no news.

    Handlers stand in a flat list and `timeout` is a whole number of seconds: anything else, and the
    host drops the whole file, other people's hooks with it.
    """
    file = _PAYLOAD / ("hooks.windows.json" if windows else "hooks.json")
    ((key, value),) = json.loads(file.read_text(encoding="utf-8")).items()
    quoted = _quote_for_cmd(hook) if windows else shlex.quote(str(hook))
    for handler in value["PreInvocation"]:
        handler["command"] = handler["command"].replace("{hook}", quoted)
    return key, value


def _quote_for_cmd(hook: PurePath) -> str:
    """Return the launcher's path for `cmd /c`.

    A plain path without quotes, which a host may pass on as `\\"`, a part of the name to cmd; cmd
    takes backslashes alone then.
    """
    plain = str(hook).replace("/", "\\") + ".cmd"
    return plain if re.fullmatch(r"[\w.:~\\-]+", plain, re.ASCII) else f'"{hook.as_posix()}.cmd"'
