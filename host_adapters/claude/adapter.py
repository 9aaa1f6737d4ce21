"""Claude Code: the event it sends and the answer it takes (measured on 2.1.197).

Read of every event: `hook_event_name`, `session_id`, `cwd`, `agent_id` (inside sub-agents only).
SessionStart adds `source` (startup, resume, clear, compact); UserPromptSubmit adds `prompt`.
"""

from agentlas_memory.events import HookEvent
from agentlas_memory.host_adapters import additional_context, parse_event

EMPTY = b""  # `{}` would be read as text by some events
KEEPS_CONTEXT = True  # injected text stays in the conversation, and is not deduplicated
# Set when Grok runs the hooks it finds in Claude's settings.
FOREIGN_VARIABLES = ("GROK_HOOK_EVENT",)


def parse(payload: dict[str, object], event: str, _settings: dict[str, object]) -> HookEvent | None:
    """Return the event, or None for one that is not ours to answer."""
    return parse_event(payload, event)


def prepare(_event: HookEvent, _home: str) -> None:
    """Nothing is to be done."""


def render(event: HookEvent, capsule: str, _home: str) -> bytes:
    """Return the answer that puts the capsule before the model."""
    return additional_context(event, capsule)
