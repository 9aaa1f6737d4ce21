"""Codex's trust in our hooks: asked from Codex itself, and given only when the person says so.

Codex skips a hook that is new or changed without a word. Its own `app-server` tells how each one
stands and takes the answer that a person gives in its `/hooks` screen; the hashes are its affair.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentlas_memory.installer.codex_server import AppServer, NoAnswer, conversation
from agentlas_memory.installer.marketplace import PLUGIN_ID

_SECONDS = 20.0  # for a whole conversation; it takes less than one


@dataclass(frozen=True, slots=True)
class HookTrust:
    """How one of our hooks stands with Codex: untrusted, trusted, modified or managed."""

    key: str
    status: str
    current_hash: str
    enabled: bool


def read_trust(
    program: str, environment: Mapping[str, str], seconds: float = _SECONDS
) -> list[HookTrust]:
    """Return how our hooks stand, none where the plugin is not installed; raise NoAnswer."""
    with conversation(program, environment, seconds) as codex:
        return _ours(codex)


def set_trust(
    program: str, environment: Mapping[str, str], seconds: float = _SECONDS
) -> list[HookTrust]:
    """Have Codex trust our hooks as they are now, and return how they stand then.

    Only for a person who has asked for it in so many words.
    """
    with conversation(program, environment, seconds) as codex:
        hooks = [hook for hook in _ours(codex) if hook.status in ("untrusted", "modified")]
        hashes = {hook.key: {"trusted_hash": hook.current_hash} for hook in hooks}
        if hashes:
            _write(codex, [("hooks.state", hashes, "upsert")])
        return _ours(codex)


def forget_trust(
    program: str, environment: Mapping[str, str], seconds: float = _SECONDS
) -> list[str]:
    """Have Codex forget what it was told of our hooks, and return their keys.

    Works with the plugin installed or not: removing it leaves these entries in Codex's settings.
    """
    with conversation(program, environment, seconds) as codex:
        state = _state(codex)
        ours = [key for key in state if key.startswith(f"{PLUGIN_ID}:")]
        names = [f"hooks.state.{json.dumps(key)}" for key in ours]
        if names and len(names) == len(state):
            names = ["hooks.state"]  # or an empty table would stay
        if names:
            _write(codex, [(name, None, "replace") for name in names])
        return ours


def _state(codex: AppServer) -> dict[str, Any]:
    """Return what Codex keeps of all hooks, by their keys."""
    answer = codex.ask("config/read", {"includeLayers": False})
    try:
        return dict((answer["config"].get("hooks") or {}).get("state") or {})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise NoAnswer(f"this Codex tells its settings in another form: {error!r}") from error


def _ours(codex: AppServer) -> list[HookTrust]:
    """Ask for all hooks of a folder without a project, and keep those of our plugin."""
    answer = codex.ask("hooks/list", {"cwds": [Path.cwd().anchor]})
    try:
        return [
            HookTrust(hook["key"], hook["trustStatus"], hook["currentHash"], hook["enabled"])
            for folder in answer["data"]
            for hook in folder["hooks"]
            if hook.get("pluginId") == PLUGIN_ID
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise NoAnswer(f"this Codex lists its hooks in another form: {error!r}") from error


def _write(codex: AppServer, edits: list[tuple[str, object, str]]) -> None:
    names = ("keyPath", "value", "mergeStrategy")
    codex.ask("config/batchWrite", {"edits": [dict(zip(names, e, strict=True)) for e in edits]})
