"""A throwaway home with a trusted project, and hooks run there as real processes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.bench.processes import Starter
from agentlas_memory.deadline import Deadline
from agentlas_memory.embedding.verify import refresh_stamp
from agentlas_memory.ontology.index import index_project
from agentlas_memory.ontology.store import open_store
from agentlas_memory.project import DATABASE
from agentlas_memory.trust_file import add_trust
from fuzz import starter

DEADLINE_MS = 1500  # the hook's own
GRACE_MS = 200  # an interpreter starts and ends, too
MOST_MIB = 150
_NOTE = "---\nid: {id}\nkind: {kind}\nscope: {scope}\n---\n\n{text}\n"
_LONG = "Retries back off {}, from one second to a minute, and give up after the {} attempt. "

DOCUMENTS = {
    "docs/ledger.md": "# Ledger\n\nWe settle the ledger in integer minor units because floats lose"
    " cents.\n\n## Rounding\n\nInterest is rounded half to even, once a day, at midnight UTC.\n",
    "docs/adr/0001-queue.md": "# 1. Queue\n\n## Status\n\nSuperseded by [2](0002-queue.md)\n\n"
    "## Decision\n\nJobs of the importer wait in a table.\n",
    "docs/adr/0002-queue.md": "# 2. Queue\n\n## Status\n\nAccepted\n\n## Decision\n\nJobs of the"
    " importer wait in RabbitMQ, in a queue of their own for each customer.\n",
    "docs/deploy.rst": "Deploying\n=========\n\nThe bastion listens on port 49222.\n\n"
    "Rollback\n--------\n\nRun `deploy.py --previous`; migrations are never rolled back.\n",
    "docs/retry.md": "# Retries\n\n"
    + "\n".join(_LONG.format(f"in step {n}", f"{n}th") for n in range(1, 40))
    + "\n",
    "docs/ru.md": "# Склад\n\nОстатки на складе пересчитываются ночью, в два часа.\n",
    "docs/zh.md": "# 仓库\n\n库存每天凌晨两点重新计算，结果写入报表。\n",
    "docs/code.md": "# Client\n\n```python\ndef get_user_by_id(user_id):\n"
    "    return users[user_id]\n```\n\nCall `get_user_by_id` with a number.\n",
    ".agentlas/ontology-inbox/one.md": _NOTE.format(
        id="a1b2c3d4e5", kind="constraint", scope="internal", text="Never store money as a float."
    ),
    ".agentlas/ontology-inbox/two.md": _NOTE.format(
        id="b1b2c3d4e5", kind="todo", scope="public", text="Measure how long the importer waits."
    ),
    ".agentlas/ontology-inbox/three.md": _NOTE.format(
        id="c1b2c3d4e5", kind="note", scope="private", text="The vault's door code is the old one."
    ),
}
QUESTION = "why do we settle the ledger in integer minor units?"
QUESTIONS = (
    QUESTION,
    "where do jobs of the importer wait, and in which queue?",
    "which port does the bastion listen on",
    "what does get_user_by_id take?",
    "когда пересчитываются остатки на складе?",
    "库存什么时候重新计算",
    "how do retries back off, and when do they give up?",
    "what does ADR-2 say",
)


class Run(NamedTuple):
    """What a hook's process did and took."""

    code: int  # negative: ended by a signal
    seconds: float
    peak_mib: float
    stdout: bytes
    stderr: bytes

    def faults(self, *, deadline_ms: float = DEADLINE_MS) -> list[str]:
        """Return what no hook may do."""
        milliseconds = self.seconds * 1000
        broken = {
            f"exit code {self.code}": self.code != 0,
            f"stderr {self.stderr[:300]!r}": bool(self.stderr),
            f"{milliseconds:.0f} ms": milliseconds > deadline_ms + GRACE_MS,
            f"{self.peak_mib:.0f} MiB": self.peak_mib >= MOST_MIB,
        }
        return [text for text, is_broken in broken.items() if is_broken]


class Scene:
    """A home, a trusted project in it and a folder that lies in no project."""

    def __init__(self, folder: Path, documents: Mapping[str, str] = DOCUMENTS) -> None:
        self.home = folder / "home"
        self.project = folder / "project"
        self.elsewhere = folder / "elsewhere"
        self.data = self.home / ".agentlas"
        self.store = self.project / DATABASE
        for place in (self.data, self.project, self.elsewhere):
            place.mkdir(parents=True)
        for path, text in documents.items():
            file = self.project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        index_project(self.project)
        refresh_stamp(str(self.data))
        self.trust()

    def trust(self) -> None:
        """Say yes to the project's store as it is."""
        store = open_store(str(self.store), Deadline(60_000))
        store.close()
        add_trust(str(self.data), str(self.project), store.text("store_id"))

    @property
    def sidecar(self) -> Path:
        """The vectors' file."""
        (file,) = self.store.parent.glob("ontology-runtime.vec-*")
        return file

    @property
    def environment(self) -> dict[str, str]:
        """All that a hook may count on."""
        return {"HOME": str(self.home), "PATH": os.defpath, "LANG": "C.UTF-8"}

    def event(self, prompt: str = QUESTION, **fields: object) -> bytes:
        """Return a prompt's event in the project."""
        return json.dumps({"cwd": str(self.project), "prompt": prompt} | fields).encode()


class Hooks(Starter):
    """Runs the installed hook, or that of `FUZZ_LAUNCHER`, each time as a process of its own."""

    def __init__(self) -> None:
        own = str(Path(sys.prefix, "bin", "agentlas-memory-hook"))
        self.launcher = os.environ.get("FUZZ_LAUNCHER") or own
        super().__init__(os.path.realpath(sys.executable), starter.__file__)

    def run(
        self,
        scene: Scene,
        event: bytes,
        *,
        host: str = "raw",
        name: str = "UserPromptSubmit",
        before: tuple[str, ...] = (),
    ) -> Run:
        """Run the hook on an event; `before` is a program that starts it."""
        arguments = [*before, self.launcher, "--host", host, "--event", name]
        return self._run(arguments, scene, event)

    def start(self, scene: Scene, arguments: list[str], stdin: bytes) -> Run:
        """Run the hook with any arguments and input."""
        return self._run([self.launcher, *arguments], scene, stdin)

    def run_patched(self, scene: Scene, code: str) -> Run:
        """Run the launcher's Python on a prompt, after code that replaces a part of the hook."""
        prefix = Path(sys.prefix)
        packages = prefix / "lib/python{}.{}/site-packages".format(*sys.version_info)
        lines = (
            f"import sys; sys.path.append({str(packages)!r})",
            f"__file__ = {self.launcher!r}; program = compile(open(__file__).read(), '', 'exec')",
            code,
            "exec(program)",
        )
        python = [str(prefix / "bin/python3"), "-I", "-S", "-c", "\n".join(lines)]
        return self._run([*python, "--host", "raw"], scene, scene.event())

    def _run(self, arguments: list[str], scene: Scene, event: bytes) -> Run:
        answer = self.ask(arguments, scene.environment, scene.elsewhere, event)
        code, seconds, peak, output, errors = answer
        return Run(code, seconds, peak / 1024, output, errors)
