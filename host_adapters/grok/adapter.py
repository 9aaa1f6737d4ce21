"""Grok CLI: the event it sends, and the file that its model reads (measured on 0.2.111).

Read of every event: `hookEventName` (snake case), `sessionId`, `cwd`. SessionStart adds `source`
(new, load); UserPromptSubmit adds `promptId` and `prompt`, in `<user_query>` tags unless it was
sent with `--verbatim`. Grok passes nothing of a hook's output to the model, so there is no answer
but the cache, which a pointer in the model's rules leads to.

A sub-agent's prompt has no tags, and an id of UUID version 7 where a person's has version 4.
`transcriptPath` does not tell them apart: a session's first prompt may come without it, a resumed
sub-agent's comes with it.
"""

from agentlas_memory.events import PROMPT, START, HookEvent, text_field
from agentlas_memory.host_adapters.grok import cache

EMPTY = b""
KEEPS_CONTEXT = False  # each prompt has an entry of its own, also when it says the same
FOREIGN_VARIABLES: tuple[str, ...] = ()

_EVENTS = {
    "user_prompt_submit": ("UserPromptSubmit", PROMPT),
    "session_start": ("SessionStart", START),
}
_NAMES = dict(_EVENTS.values())
_OPEN, _CLOSE = "<user_query>", "</user_query>"


def parse(payload: dict[str, object], event: str, _settings: dict[str, object]) -> HookEvent | None:
    """Return the event, or None for one that is not ours to answer."""
    named = text_field(payload, "hookEventName")
    name, kind = _EVENTS.get(named, ("", "")) if named else (event, _NAMES.get(event, ""))
    cwd, prompt = text_field(payload, "cwd"), text_field(payload, "prompt")
    if not kind or not cwd:
        return None  # without the path that the model sees there is no entry
    if named and kind == PROMPT and _is_subagent(payload, prompt):
        return None  # the entry is its parent's, who may be reading it
    return HookEvent(
        name,
        kind,
        cwd=cwd,
        prompt=_unwrap(prompt),
        session=text_field(payload, "sessionId"),
        source=text_field(payload, "source") if kind == START else "",
    )


def prepare(event: HookEvent, home: str) -> None:
    """Empty this workspace's entry: what an earlier prompt was told never passes as current."""
    if home:
        cache.empty_entry(home, event.cwd)


def render(event: HookEvent, capsule: str, home: str) -> bytes:
    """Leave the capsule where the pointer leads; the host is told nothing."""
    if home:
        cache.write_entry(home, event.cwd, capsule)
    return EMPTY


def _is_subagent(payload: dict[str, object], prompt: str) -> bool:
    """Tell a sub-agent's prompt from one that a person sent verbatim."""
    version = text_field(payload, "promptId")[14:15]
    return version != "4" and not prompt.lstrip().startswith(_OPEN)


def _unwrap(prompt: str) -> str:
    """Return what the person typed; a long prompt is cut by the host, its closing tag with it."""
    text = prompt.strip()
    if not text.startswith(_OPEN):
        return prompt
    return text[len(_OPEN) :].removesuffix(_CLOSE).strip()
