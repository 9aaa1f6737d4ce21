"""What `import-store` tells: what it found, what is carried over, and what is not and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlas_memory.commands.output import print_json, say
from agentlas_memory.upstream.moving import kept_name

if TYPE_CHECKING:
    from agentlas_memory.commands.import_store import Scene
    from agentlas_memory.upstream.report import Report


def tell(scene: Scene, report: Report, *, done: bool, as_json: bool) -> None:
    """Tell a person, or a program, what is or would be taken over."""
    from agentlas_memory.upstream.preview import can_be_named

    if as_json:
        document = {
            "project": scene.project and scene.project.store_root,
            "agent": scene.agent and scene.agent.slug,
            "stores": [str(store) for store in scene.stores],
            "done": done,
        }
        print_json(document | report.document())
        return
    say_all(scene, report, done=done)
    if any(can_be_named(one.reason) for one in report.left.values()):
        say(
            "What an agent learned is carried over by import-store --agent NAME; of the agent of"
            " this project's routing card also after agentlas-memory trust."
        )


def say_all(scene: Scene, report: Report, *, done: bool) -> None:
    """Say what was found, what is carried, and what is not."""
    for store in scene.stores:
        to = f" (to be renamed to {kept_name(store).name})" if scene.renames(store) else ""
        say(f"{store}{to}")
    document = report.document()
    say("found: " + _numbers(document["found"]))
    say(("carried over: " if done else "to carry over: ") + (_numbers(document["carried"]) or "-"))
    if private := report.private_notes:
        verb = "is" if private == 1 else "are"
        say(f"{private} of the notes {verb} private: no assistant is told")
    for one in document["not_carried"]:
        names = f" ({', '.join(one['names'])}{' ...' if one['count'] > len(one['names']) else ''})"
        say(
            f"not carried: {_counted(one['count'], one['what'])}: {one['reason']}"
            + names * bool(one["names"])
        )


def _numbers(counts: dict[str, int | None]) -> str:
    return ", ".join(_counted(n, what) for what, n in counts.items())


def _counted(number: int | None, what: str) -> str:
    """Return a number and the name of a kind, in the singular where it is one."""
    plain = what.replace("_", " ")
    if number == 1:
        plain = re.sub(r"(?:(ie)|)s(?= of |$)", lambda end: "y" if end[1] else "", plain, count=1)
    return f"{'?' if number is None else number} {plain}"
