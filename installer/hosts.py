"""The hosts there are, in the order in which people are told of them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import cast

from agentlas_memory.installer.surfaces import HostSpec

HOSTS = ("claude", "codex", "antigravity", "opencode", "grok")


def specs_of(names: Sequence[str] = ()) -> list[HostSpec]:
    """Return the install specs of the hosts named, or of all."""
    return [
        cast("HostSpec", import_module(f"agentlas_memory.host_adapters.{name}.install_spec").SPEC)
        for name in HOSTS
        if not names or name in names
    ]
