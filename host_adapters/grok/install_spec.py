"""Where Grok CLI is, and what of its files is ours (measured on 0.2.111)."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from agentlas_memory.installer.starts import SAMPLE_PROMPT, Start, event_in, json_commands
from agentlas_memory.installer.surfaces import Detected, MarkedBlock, Place, Surface, WholeFile

_HOOKS = "agentlas-memory.json"
_BEGIN = "<!-- agentlas-memory: begin -->"
_END = "<!-- agentlas-memory: end -->"
_INDEX = Path("runtime-memory-context", "grok", "index.json")


class _Grok:
    name = "grok"
    title = "Grok CLI"
    verified = "0.2.111"
    oldest = "0.2.111"  # no earlier one was to be had
    note = ""
    delivery = "pointer"  # it discards what a hook prints

    def detect(self, place: Place, run: Callable[[list[str]], str | None]) -> Detected | None:
        """Return Grok if its program answers, or if its folder is there."""
        answer = run(["grok", "--version"])
        if answer is not None:
            version = re.search(r"\d+\.\d+\.\d+\S*", answer)
            return Detected("grok", version[0] if version else "")
        return Detected("", "") if _home(place).is_dir() else None

    def surfaces(self, place: Place) -> list[Surface]:
        """Return the pointer and the hooks file, the pointer first: alone it does nothing."""
        home = _home(place)
        return [
            MarkedBlock(home / "AGENTS.md", _BEGIN, _END, _pointer(place)),
            WholeFile(home / "hooks" / _HOOKS, _hooks(place)),
        ]

    def homes(self, place: Place) -> tuple[Path, ...]:
        """Return Grok's folder: all it keeps is in there."""
        return (_home(place),)

    def commands_in(self, text: str) -> list[str]:
        """Return the commands of our hooks file."""
        return json_commands(text, self.name)

    def start(self, command: str, project: Path) -> Start:
        """Return how Grok starts a command: by `sh`, in the workspace."""
        name = event_in(command)
        fields = {
            "hookEventName": {"SessionStart": "session_start"}.get(name, "user_prompt_submit"),
            "sessionId": "doctor",
            "cwd": str(project),
            "workspaceRoot": str(project),
            "permissionMode": "default",
            "transcriptPath": str(project / "updates.jsonl"),
            "source": "new",
            "prompt": f"<user_query>\n{SAMPLE_PROMPT}\n</user_query>",
        }
        return Start(("sh", "-c", command), project, json.dumps(fields).encode())

    def heard(self, output: bytes, data_home: Path) -> str:
        """Return what stands in the files that the model is told to read; no output is read."""
        entries = (data_home / _INDEX).parent.glob("*.md")
        return "" if output else "".join(one.read_text(encoding="utf-8") for one in entries)


SPEC = _Grok()


def _home(place: Place) -> Path:
    return place.folder("GROK_HOME", place.home / ".grok")


def _hooks(place: Place) -> str:
    # Grok replaces variables before the shell sees its quotes: no name may follow the sign.
    program = shlex.quote(place.hook.as_posix()).replace("$", "'\"$\"'")
    return _template(_HOOKS).replace("{hook}", json.dumps(program)[1:-1])


def _pointer(place: Place) -> str:
    index = json.dumps((place.data_home / _INDEX).as_posix(), ensure_ascii=False)
    return _template("pointer.md").replace("{index}", index)


def _template(name: str) -> str:
    return files(__package__).joinpath("payload").joinpath(name).read_text(encoding="utf-8")
