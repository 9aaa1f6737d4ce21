"""Codex's trust in our hook: told, checked, and given only when a person asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlas_memory.commands.output import say

if TYPE_CHECKING:
    from agentlas_memory.installer.checks import Check
    from agentlas_memory.installer.codex_trust import HookTrust
    from agentlas_memory.installer.surfaces import Detected, Place

_GIVE = "agentlas-memory install --host codex --trust-codex"


def codex_trust(detected: Detected, place: Place, *, wanted: bool) -> tuple[str, list[str]]:
    """Return how Codex stands to our hook, and what a person should know of that.

    If that is wanted, it is told to trust the hook first.
    """
    from agentlas_memory.host_adapters.codex.install_spec import SPEC
    from agentlas_memory.installer.codex_server import NoAnswer
    from agentlas_memory.installer.codex_trust import read_trust, set_trust

    try:
        ask = set_trust if wanted else read_trust
        status = _status(ask(detected.program, place.environment))
    except NoAnswer as error:
        return "unknown", [f"Codex did not tell whether it trusts the hook: {error}", SPEC.note]
    return status, [] if status in ("trusted", "managed") else [SPEC.note]


def trust_check(program: str, place: Place) -> Check:
    """Return what `doctor` says of it."""
    from agentlas_memory.installer.checks import Check
    from agentlas_memory.installer.codex_server import NoAnswer
    from agentlas_memory.installer.codex_trust import read_trust

    try:
        status = _status(read_trust(program, place.environment))
    except NoAnswer as error:
        told = f"Codex did not tell: {error}"
        return Check("trust", "codex", "warning", told, "look into its /hooks screen")
    if status in ("trusted", "managed"):
        return Check("trust", "codex", "ok", status)
    return Check("trust", "codex", "failed", f"Codex does not run the hook: {status}", _GIVE)


def forget_codex_trust(program: str, place: Place) -> None:
    """Have Codex forget our hook; where it does not answer, `left` tells what stayed."""
    from agentlas_memory.installer.codex_server import NoAnswer
    from agentlas_memory.installer.codex_trust import forget_trust

    try:
        forget_trust(program, place.environment)
    except NoAnswer as error:
        say(f"  Codex keeps what it knows of the hook: {error}")


def _status(hooks: list[HookTrust]) -> str:
    """Return one word for all our hooks: the worst of them; `absent` where there is none."""
    statuses = {hook.status if hook.enabled else "disabled" for hook in hooks}
    order = ("disabled", "modified", "untrusted", "managed", "trusted")
    return next((word for word in order if word in statuses), "absent" if not statuses else "?")
