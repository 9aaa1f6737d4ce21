"""Print what each host's way into the hook costs beside the raw one, measured in one run.

    python scripts/measure_hosts.py [--runs 100] [--most 5]

Needs agentlas-memory installed beside this Python. In each turn every host's hook is started once
as a process, in another order, with the same question in the same project: each finds the same
evidence and delivers it in its host's form. Printed are medians over the turns, and the median of
the differences from the raw hook of the same turn. Ends with 1 where a host adds more than --most
milliseconds of wall time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

BIN = Path(sys.prefix, "bin")
QUESTION = "why do we settle the ledger in integer minor units?"
LEDGER = "# Ledger\n\nWe settle the ledger in integer minor units because floats lose cents.\n"
EVENTS = {
    "raw": "UserPromptSubmit",
    "claude": "UserPromptSubmit",
    "codex": "UserPromptSubmit",
    "antigravity": "PreInvocation",
    "opencode": "chat.message",
    "grok": "UserPromptSubmit",
}


class Cost(NamedTuple):
    """Milliseconds of one process, from its start to its end."""

    wall: float
    cpu: float


class Scene:
    """A throwaway home with a trusted project, and the events of each host in it."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.environment = {"HOME": str(self.home), "PATH": os.defpath}
        (self.project / "docs").mkdir(parents=True)
        (self.project / "docs/ledger.md").write_text(LEDGER)
        (self.home / ".agentlas").mkdir(parents=True)
        for command in ("init", "index"):
            words = [BIN / "agentlas-memory", command, "--project", self.project]
            subprocess.run(words, env=self.environment, check=True, capture_output=True)
        settings = {"antigravity.read_prompt": "transcript"}  # so that it is asked the same
        (self.home / ".agentlas/settings.json").write_text(json.dumps(settings))
        self.transcript = folder / "transcript.jsonl"
        content = f"<USER_REQUEST>\n{QUESTION}\n</USER_REQUEST>"
        line = {"source": "USER_EXPLICIT", "type": "USER_INPUT", "content": content}
        self.transcript.write_text(json.dumps(line) + "\n")

    def payload(self, host: str, turn: int) -> bytes:
        """Return what a host sends, in a session of its own each time."""
        event: dict[str, object] = {"cwd": str(self.project), "prompt": QUESTION}
        if host in ("claude", "codex"):
            event |= {"session_id": f"session-{turn}", "hook_event_name": EVENTS[host]}
        elif host == "opencode":
            event |= {"session": f"ses_{turn}", "message": f"msg_{turn}", "subagent": False}
        elif host == "grok":
            event["prompt"] = f"<user_query>\n{QUESTION}\n</user_query>"
            event |= {"hookEventName": "user_prompt_submit", "sessionId": f"session-{turn}"}
        elif host == "antigravity":
            event = {"invocationNum": 0, "transcriptPath": str(self.transcript)}
            event["workspacePaths"] = [str(self.project)]
        return json.dumps(event).encode()

    def run(self, host: str, turn: int) -> Cost:
        """Start one hook and return what it cost; it must have something to say."""
        command = [str(BIN / "agentlas-memory-hook"), "--host", host, "--event", EVENTS[host]]
        given, end = os.pipe()
        os.write(end, self.payload(host, turn))
        os.close(end)
        answer = self.home / "answer"
        with answer.open("wb") as file:
            actions = [(os.POSIX_SPAWN_DUP2, given, 0), (os.POSIX_SPAWN_DUP2, file.fileno(), 1)]
            started = time.perf_counter()
            child = os.posix_spawn(command[0], command, self.environment, file_actions=actions)
            _, status, usage = os.wait4(child, 0)
            wall = time.perf_counter() - started
        os.close(given)
        entries = self.home.glob(".agentlas/runtime-memory-context/grok/*.md")
        told = "".join(map(Path.read_text, entries)) if host == "grok" else answer.read_text()
        if status or "floats lose cents" not in told:
            raise SystemExit(f"{host} said {told!r}, status {status}")
        return Cost(wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000)


def measure(runs: int) -> dict[str, list[Cost]]:
    """Return the costs of each host, turn by turn; the first turns warm the machine up."""
    costs: dict[str, list[Cost]] = {host: [] for host in EVENTS}
    source = random.Random(7)
    with TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        for turn in range(-3, runs):
            for host in source.sample(list(EVENTS), len(EVENTS)):
                cost = scene.run(host, turn)
                if turn >= 0:
                    costs[host].append(cost)
    return costs


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--most", type=float, default=5.0)
    options = parser.parse_args()
    costs = measure(options.runs)
    print("| host | wall ms | CPU ms | wall over raw | CPU over raw |\n|---|---|---|---|---|")
    most = 0.0
    for host, some in costs.items():
        wall, cpu = (median(values) for values in zip(*some, strict=True))
        pairs = list(zip(some, costs["raw"], strict=True))
        more = [median(one[n] - raw[n] for one, raw in pairs) for n in range(2)]
        most = max(most, more[0])
        print(f"| {host} | {wall:.1f} | {cpu:.1f} | {more[0]:+.1f} | {more[1]:+.1f} |")
    return int(most > options.most)


if __name__ == "__main__":
    raise SystemExit(main())
