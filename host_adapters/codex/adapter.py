"""Codex: the event it sends and the answer it takes (measured on 0.171.0).

Read of every event: `hook_event_name`, `session_id`, `cwd`. SessionStart adds `source` (startup,
resume, clear, compact, fork); UserPromptSubmit adds `prompt`, and in a sub-agent `agent_id` beside
the `session_id` of its parent.
"""

from agentlas_memory.events import HookEvent
from agentlas_memory.host_adapters import additional_context, parse_event

EMPTY = b""  # every other text is put before the model, `null` too
KEEPS_CONTEXT = True  # injected text stays in the conversation, and is not deduplicated
FOREIGN_VARIABLES: tuple[str, ...] = ()  # no other host runs the hooks it finds in Codex's plugins

# UTF-8 bytes; Codex cuts the middle out of a longer text, and leaves the whole of it in a file that
# everybody can read.
MAX_BYTES = 10_000


def parse(payload: dict[str, object], event: str, _settings: dict[str, object]) -> HookEvent | None:
    """Return the event, or None for one that is not ours to answer."""
    return parse_event(payload, event)


def prepare(_event: HookEvent, _home: str) -> None:
    """Nothing is to be done."""


def render(event: HookEvent, capsule: str, _home: str) -> bytes:
    """Return the answer that puts the capsule before the model.

    One key that Codex does not know, and it drops the whole answer.
    """
    if len(capsule.encode("utf-8", "replace")) > MAX_BYTES:
        return EMPTY
    return additional_context(event, capsule)
