"""OpenCode: what our plugin in it sends, and the text it takes (measured on 1.18.33).

Read: `cwd` (the directory of the server's instance), `prompt`, `session`, `subagent`. The plugin is
`payload/agentlas-memory.js`; it also sends `message`, by which a person can follow a prompt.
"""

from agentlas_memory.events import PROMPT, HookEvent, text_field

EMPTY = b""
KEEPS_CONTEXT = False  # what the plugin adds lives for one prompt, and is stored nowhere
FOREIGN_VARIABLES: tuple[str, ...] = ()

_EVENT = "chat.message"


def parse(payload: dict[str, object], event: str, _settings: dict[str, object]) -> HookEvent | None:
    """Return the event, or None for one that is not ours to answer."""
    if (event or _EVENT) != _EVENT:
        return None
    return HookEvent(
        _EVENT,
        PROMPT,
        cwd=text_field(payload, "cwd"),
        prompt=_unquoted(text_field(payload, "prompt")),
        session=text_field(payload, "session"),
        subagent=payload.get("subagent") is True,
    )


def prepare(_event: HookEvent, _home: str) -> None:
    """Nothing is to be done."""


def render(_event: HookEvent, capsule: str, _home: str) -> bytes:
    """Return the capsule as it is."""
    return capsule.encode("utf-8", "replace")


def _unquoted(prompt: str) -> str:
    """Return what was typed: `opencode run` puts an argument of several words in double quotes."""
    if len(prompt) > 1 and prompt[0] == prompt[-1] == '"':
        return prompt[1:-1].replace('\\"', '"')
    return prompt
