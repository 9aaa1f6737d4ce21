"""Claude Code: the event it sends and the answer it takes (measured on 2.1.197).

Read of every event: `hook_event_name`, `session_id`, `cwd`, `agent_id` (inside sub-agents only).
SessionStart adds `source` (startup, resume, clear, compact); UserPromptSubmit adds `prompt`.
"""

from agentlas_memory.events import PROMPT, START, HookEvent, text_field
from agentlas_memory.lean import quote_json

EMPTY = b""  # `{}` would be read as text by some events
KEEPS_CONTEXT = True  # injected text stays in the conversation, and is not deduplicated
# Set when Grok runs the hooks it finds in Claude's settings.
FOREIGN_VARIABLES = ("GROK_HOOK_EVENT",)

_KINDS = {"UserPromptSubmit": PROMPT, "SessionStart": START}


def parse(payload: dict[str, object], event: str, _settings: dict[str, object]) -> HookEvent | None:
    """Return the event, or None for one that is not ours to answer."""
    name = text_field(payload, "hook_event_name") or event
    kind = _KINDS.get(name)
    if kind is None:
        return None
    agent = text_field(payload, "agent_id")
    return HookEvent(
        name,
        kind,
        cwd=text_field(payload, "cwd"),
        prompt=text_field(payload, "prompt"),
        # A sub-agent has a context of its own: it was not given what its parent was.
        session=text_field(payload, "session_id") + agent,
        source=text_field(payload, "source") if kind == START else "",
        subagent=bool(agent),
    )


def prepare(_event: HookEvent, _home: str) -> None:
    """Nothing is to be done."""


def render(event: HookEvent, capsule: str, _home: str) -> bytes:
    """Return the answer that puts the capsule before the model."""
    return (
        '{"hookSpecificOutput":{"hookEventName":'
        + quote_json(event.name)
        + ',"additionalContext":'
        + quote_json(capsule)
        + "}}\n"
    ).encode("ascii")
