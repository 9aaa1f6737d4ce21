"""Each reason of a silence in words, with what to do about it."""

from __future__ import annotations

from agentlas_memory.commands.advice import REPAIR, broken_file
from agentlas_memory.commands.errors import command_line
from agentlas_memory.commands.projects import settings
from agentlas_memory.lean import getenv
from agentlas_memory.project import Project
from agentlas_memory.settings_file import SETTINGS_FILE

_WORDS = {  # silence_reason -> why, and what to do if anything is to be done
    "no_marker": ("there is no project here", "{init}"),
    "untrusted": ("you have not said yes to this store", "{trust}"),
    "off": ("memory is switched off", "{on}"),
    "stale": ("memory.toml or the file that answers changed since it was indexed", "{index}"),
    "store_error": ("what is known could not be read", "{status} names the failure"),
    "no_prompt": ("there was no text to look anything up for", ""),
    "no_terms": ("the prompt holds no word that could be looked up", "name a thing in it"),
    "gated": ("nothing here bears on it enough", "{why} shows by how much"),
    "policy_source": ("all that bears on it is in files that hosts load themselves", ""),
    "delivered": ("the session has it already", '"delivery": "every_turn" tells it again'),
    "deadline": ("the time was up", '"deadline_ms" in settings.json gives more of it'),
    "subagent": ("a sub-agent asked", '"subagents": true in settings.json answers them too'),
    "nested": ("a program asked that this one had started", ""),
    "wrong_caller": ("another host's entry asked", "agentlas-memory doctor names it"),
}

_IN_WORKTREE = (
    "{index} follows the main worktree, whose store answers here too;"
    ' "worktree": "isolated" in settings.json lets this one have its own'
)


def in_words(reason: str, project: Project | None) -> str:
    """Return why there was silence, and what to do about it."""
    why, advice = _WORDS.get(reason, (f"the reason is {reason}", ""))
    if reason == "off":
        advice = _switched_off() or advice
    root = project.store_root if project else "."
    commands = {word: command_line(word, root) for word in ("trust", "on", "index", "status")}
    if reason == "stale" and project and project.root != project.store_root:
        advice = _IN_WORKTREE
    next_step = advice.format(**commands, init="agentlas-memory init", why='why "PROMPT"')
    return f"{why}; {next_step}" if next_step else why


def _switched_off() -> str:
    """Return what ends a silence in all projects, blank where only this one is paused."""
    if getenv("AGENTLAS_MEMORY") == "off":
        return "unset AGENTLAS_MEMORY, which says off"
    if broken_file(SETTINGS_FILE):
        return f"settings.json cannot be read: {REPAIR}"
    return "agentlas-memory on --all" if settings().get("off") is True else ""
