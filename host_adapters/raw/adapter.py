"""Any script: the same fields as Claude's event, the capsule as plain text on stdout.

Read: `cwd`, `prompt`, `session_id`, `source`. An event with a prompt is a prompt; the names
`SessionStart` and `PreInvocation` ask for the project's state.
"""

from agentlas_memory.events import PROMPT, START, HookEvent, text_field

EMPTY = b""
KEEPS_CONTEXT = False  # what becomes of the text is the caller's affair
FOREIGN_VARIABLES: tuple[str, ...] = ()

_STARTS = ("SessionStart", "PreInvocation")


def parse(payload: dict[str, object], event: str, _settings: dict[str, object]) -> HookEvent | None:
    """Return the event that the command line or the payload names."""
    return HookEvent(
        event,
        START if event in _STARTS else PROMPT,
        cwd=text_field(payload, "cwd"),
        prompt=text_field(payload, "prompt"),
        session=text_field(payload, "session_id"),
        source=text_field(payload, "source"),
    )


def prepare(_event: HookEvent, _home: str) -> None:
    """Nothing is to be done."""


def render(_event: HookEvent, capsule: str, _home: str) -> bytes:
    """Return the capsule as it is."""
    return (capsule + "\n").encode("utf-8")
