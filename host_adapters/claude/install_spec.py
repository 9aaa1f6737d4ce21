"""How Claude Code takes the hook: as a plugin, by its own commands."""

from agentlas_memory.installer.plugin_host import PluginHost

SPEC = PluginHost(
    name="claude",
    title="Claude Code",
    verified="2.1.197",
    oldest="2.1.20",  # heard there; 2.0.60 installs the plugin and does not run its hooks
    note="",
    delivery="context",
    program="claude",
    variable="CLAUDE_CONFIG_DIR",
    folder=".claude",
    add="install",
    remove="uninstall",
    runs_copy=False,
    shell=lambda: "/bin/sh",  # whatever $SHELL says
    beside=(".claude.json",),  # 2.1.332 notes there which plugins a person has removed
)
