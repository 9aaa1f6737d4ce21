"""What `status` says of a memory that is silent, and the one thing to do about it."""

from __future__ import annotations

from pathlib import Path

from agentlas_memory.commands.errors import command_line
from agentlas_memory.commands.projects import settings
from agentlas_memory.commands.standing import agent_of, silenced_by
from agentlas_memory.home import data_home
from agentlas_memory.lean import getenv
from agentlas_memory.private_json import BrokenFile, read_private_json
from agentlas_memory.project import Project
from agentlas_memory.settings_file import SETTINGS_FILE
from agentlas_memory.trust import TRUSTED_FILE, read_trust
from agentlas_memory.trust_file import read_trust_file

REPAIR = "repair the file, or move it away"
_STATES = {  # of a store that the user said yes to -> what heals it
    "interrupted": "a run was interrupted; {index}",
    "damaged": "the store is damaged; {index} moves it aside and builds it anew",
    "locked": "the store is locked by another process; try again when it is done",
    "upstream": "a store of Agentlas OS is in the store's place; {import_store}",
    "foreign": "another program's file is in the store's place; move it away, then {index}",
    "unreadable": "the store cannot be read; check its permissions",
}


def memory_line(project: Project | None, state: str) -> str:
    """Return whether memory speaks here; `state` is that of the project's store."""
    if project is None:
        return "none here; agentlas-memory init"
    if getenv("AGENTLAS_MEMORY") == "off":
        return "off by AGENTLAS_MEMORY=off in this environment; unset it"
    index = command_line("index", project.store_root)
    if state == "missing" and agent_of(project) is None:
        return f"no store yet; {index}"
    if broken := broken_file(TRUSTED_FILE):
        return f"silent, {broken}"
    if broken_file(SETTINGS_FILE):
        return "silent everywhere, as settings.json cannot be read: see settings below"
    if settings().get("off") is True:
        return "paused everywhere; agentlas-memory on --all"
    if state in _STATES:
        return f"silent, {_of_unreadable(project, state, index)}"
    silenced = {
        "untrusted": f"not trusted; {command_line('trust', project.store_root)}",
        "off": f"paused; {command_line('on', project.store_root)}",
        "stale": f"silent, memory.toml changed since it was indexed; {index}",
    }
    return silenced.get(silenced_by(project), "on")


def broken_file(name: str) -> str:
    """Return what is wrong with a JSON file of the user's own folder, blank where nothing is."""
    home = data_home()
    if not home:
        return ""
    try:
        if name == TRUSTED_FILE:
            read_trust_file(home)
        else:
            read_private_json(Path(home, name))
    except (BrokenFile, OSError) as error:
        return f"as {error}; {REPAIR}"
    return ""


def broken_project_files(project: Project) -> list[tuple[str, str]]:
    """Return those of the project's own files that cannot be understood: name, and why."""
    from agentlas_memory.ontology.config import ConfigError, load_config
    from agentlas_memory.ontology.decisions import read_decisions

    found = []
    try:
        load_config(Path(project.store_root))
    except ConfigError as error:
        found.append(("memory.toml", f"index refuses it: {error}"))
    try:
        read_decisions(Path(project.database).parent)
    except (BrokenFile, OSError) as error:
        found.append(("review.json", f"index refuses it: {error}; {REPAIR}"))
    return found


def _of_unreadable(project: Project, state: str, index: str) -> str:
    if state not in ("locked", "upstream") and read_trust(data_home(), project.store_root) is None:
        return f"neither trusted nor readable; move {project.database} away, then {index}"
    import_store = command_line("import-store", project.store_root)
    return _STATES[state].format(index=index, import_store=import_store)
