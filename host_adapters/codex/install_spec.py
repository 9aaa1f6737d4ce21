"""How Codex takes the hook: as a plugin, by its own commands, and then only if it is trusted."""

import os

from agentlas_memory.installer.plugin_host import PluginHost


def account_shell() -> str:
    """Return the shell of the person's account, which Codex takes whatever $SHELL says."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"
    except (ImportError, KeyError):
        return "/bin/sh"


SPEC = PluginHost(
    name="codex",
    title="Codex",
    verified="0.171.0",
    oldest="0.131.0",  # heard there without a switch; tells of a compaction since 0.135.0
    note="Codex runs a new hook only once you trust it: in its /hooks screen, or by"
    " `agentlas-memory install --host codex --trust-codex`.",
    delivery="context",
    program="codex",
    variable="CODEX_HOME",
    folder=".codex",
    add="add",
    remove="remove",
    runs_copy=True,
    shell=account_shell,
)
