"""Antigravity: the event it sends and the answer it takes (measured on the engine 0.1.22).

Read of PreInvocation: `workspacePaths`, `lastUserInput` (in the schema, not sent so far); with the
setting `antigravity.read_prompt` also `transcriptPath` and `invocationNum`. The payload names no
event, and no folder of the process is the project's: both come from where the table below says.
"""

from agentlas_memory.events import PROMPT, START, HookEvent, text_field
from agentlas_memory.lean import quote_json

EMPTY = b"{}"  # the host parses every answer, and drops one with a key that it does not know
# Fires before each model call, and what it answers lives for that call alone.
KEEPS_CONTEXT = False
FOREIGN_VARIABLES: tuple[str, ...] = ()

EVENT = "PreInvocation"
MOST_BYTES = 49_152  # the host cuts longer text


def parse(payload: dict[str, object], event: str, settings: dict[str, object]) -> HookEvent | None:
    """Return the event, or None for one that is not ours to answer or has no workspace."""
    folder = _first_workspace(payload)
    if event != EVENT or not folder:
        return None
    prompt = text_field(payload, "lastUserInput")
    if prompt:
        return HookEvent(event, PROMPT, cwd=folder, prompt=prompt)
    if settings.get("antigravity.read_prompt") == "transcript":
        return HookEvent(event, PROMPT, cwd=folder, prompt=_prompt_in_transcript(payload))
    return HookEvent(event, START, cwd=folder)  # no source: nothing was dropped


def prepare(_event: HookEvent, _home: str) -> None:
    """Nothing is to be done."""


def render(_event: HookEvent, capsule: str, _home: str) -> bytes:
    """Return the answer that puts the capsule before the model, for one call."""
    if len(capsule.encode("utf-8")) > MOST_BYTES:  # a lone surrogate is refused here, not there
        return EMPTY
    return f'{{"injectSteps":[{{"ephemeralMessage":{quote_json(capsule)}}}]}}'.encode("ascii")


def _first_workspace(payload: dict[str, object]) -> str:
    paths = payload.get("workspacePaths")
    first = paths[0] if isinstance(paths, list) and paths else ""
    return first if isinstance(first, str) else ""


def _prompt_in_transcript(payload: dict[str, object]) -> str:
    """Return what the person asked last; blank, so that the answer is silence, when in doubt."""
    from agentlas_memory.host_adapters.antigravity.transcript import last_prompt

    begins = payload.get("invocationNum", 0) == 0  # it counts the calls of one turn
    return last_prompt(text_field(payload, "transcriptPath"), begins)
