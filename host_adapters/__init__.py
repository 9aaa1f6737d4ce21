"""One folder a host; each knows its own JSON, where its files lie, and nothing else.

Adding a host adds a folder, and its name to the tables in `hook.py` and `installer/hosts.py`.
"""

from agentlas_memory.events import PROMPT, START, HookEvent, text_field
from agentlas_memory.lean import quote_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Adapter(Protocol):
        """What `host_adapters/<host>/adapter.py` offers to the hook."""

        EMPTY: bytes
        """The answer that tells this host nothing."""

        KEEPS_CONTEXT: bool
        """Whether the host keeps what it is told in the conversation: then once is enough."""

        FOREIGN_VARIABLES: tuple[str, ...]
        """Variables that say that another host runs us through this one's settings."""

        def parse(
            self, payload: dict[str, object], event: str, settings: dict[str, object]
        ) -> HookEvent | None:
            """Return the event, or None for one that is not ours to answer."""

        def prepare(self, event: HookEvent, home: str) -> None:
            """Do what must be done before anything is recalled; `home` may be blank."""

        def render(self, event: HookEvent, capsule: str, home: str) -> bytes:
            """Return the answer that puts the capsule before the model."""


# Claude Code's contract, which Codex has taken over: the same fields, the same answer.
_KINDS = {"UserPromptSubmit": PROMPT, "SessionStart": START}


def parse_event(payload: dict[str, object], event: str) -> HookEvent | None:
    """Return the event of a payload in Claude's form, None for one that is not ours to answer."""
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


def additional_context(event: HookEvent, capsule: str) -> bytes:
    """Return the answer in Claude's form that puts a capsule before the model."""
    return (
        '{"hookSpecificOutput":{"hookEventName":'
        + quote_json(event.name)
        + ',"additionalContext":'
        + quote_json(capsule)
        + "}}\n"
    ).encode("ascii")
