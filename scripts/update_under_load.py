"""Update and roll back while two processes ask the hook twenty times a second, and count faults.

python scripts/update_under_load.py OLD_BUNDLE NEW_BUNDLE [--rounds 20] [--rate 20]

Makes a home of its own among the temporary files, installs the old bundle there by what install.sh
runs, and goes back and forth. The bundles must be signed by one key. Prints one JSON document; exit
code 1 if any hook run ended with another code than 0, wrote to stderr, or answered anything but
valid JSON with the known fact in it, or nothing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

FACT = "the ledger counts money in integer minor units"
BOOTSTRAP = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from agentlas_memory.installer.runtimes.bootstrap import main; sys.exit(main())"
)


def main() -> int:
    """Run the rounds and print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--rate", type=float, default=20.0, help="hooks a second, in each process")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agentlas-memory-") as name:
        document = measure(Path(name).resolve(), options)
    print(json.dumps(document, indent=2))
    return int(bool(document["faults"]))


def measure(home: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Install, then switch versions while hooks run."""
    environment = {"HOME": str(home), "PATH": os.defpath}
    project = fill(home, options.old, environment)
    program = home / ".agentlas/runtime/current/bin/agentlas-memory"
    stop, results = multiprocessing.Event(), multiprocessing.Queue()
    askers = [
        multiprocessing.Process(
            target=ask_on, args=(number, project, environment, options.rate, stop, results)
        )
        for number in range(2)
    ]
    for asker in askers:
        asker.start()
    try:
        switches = switch(program, options, environment)
    finally:
        stop.set()
        counted = [results.get(timeout=60) for _ in askers]
        for asker in askers:
            asker.join()
    return summary(counted, switches)


def fill(home: Path, bundle: Path, environment: dict[str, str]) -> Path:
    """Install a version and give it a project that it knows a fact of."""
    [wheel] = bundle.glob("wheels/agentlas_memory-*.whl")
    python = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    run([python, "-I", "-c", BOOTSTRAP, wheel, bundle], environment)
    project = home / "project"
    project.mkdir()
    (project / "ledger.md").write_text(f"# Ledger\n\nSince floats lose cents, {FACT}.\n")
    program = home / ".agentlas/runtime/current/bin/agentlas-memory"
    for word in ("init", "index"):
        run([program, word, "--project", project], environment)
    return project


def run(command: list[Any], environment: dict[str, str]) -> str:
    """Run a command that has to succeed."""
    words = list(map(str, command))
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{words}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def switch(program: Path, options: argparse.Namespace, environment: dict[str, str]) -> Counter[str]:
    """Go to the new version, built afresh each time, and back."""
    done: Counter[str] = Counter()
    for _ in range(options.rounds):
        answer = json.loads(run([program, "update", "--from", options.new, "--json"], environment))
        done[answer["action"]] += 1
        answer = json.loads(run([program, "rollback", "--json"], environment))
        done[answer["action"]] += 1
        print(dict(done), file=sys.stderr, flush=True)
    return done


def ask_on(
    number: int, project: Path, environment: dict[str, str], rate: float, stop: Any, results: Any
) -> None:
    """Ask at a steady rate until told to stop; put the counts into the queue."""
    hook = Path(environment["HOME"], ".agentlas/runtime/current/bin/agentlas-memory-hook")
    counts: Counter[str] = Counter()
    faults: list[str] = []
    due = time.monotonic()
    while not stop.is_set():
        kind, fault = ask(hook, project, f"{number}-{sum(counts.values())}", environment)
        counts[kind] += 1
        if fault:
            faults.append(fault)
        due = max(due + 1 / rate, time.monotonic() - 1)
        time.sleep(max(0.0, due - time.monotonic()))
    results.put((counts, faults))


def ask(hook: Path, project: Path, session: str, environment: dict[str, str]) -> tuple[str, str]:
    """Ask once; return what kind of answer came, and what was wrong with it."""
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": session,
        "cwd": str(project),
        "prompt": "why does the ledger count money in integer minor units?",
    }
    process = subprocess.run(
        [str(hook), "--host", "claude"],
        input=json.dumps(event).encode(),
        capture_output=True,
        env=environment,
        check=False,
    )
    if process.returncode or process.stderr:
        return "failed", f"exit code {process.returncode}: {process.stderr!r}"
    if not process.stdout:
        return "silent", ""
    try:
        known = FACT in json.loads(process.stdout)["hookSpecificOutput"]["additionalContext"]
    except (ValueError, KeyError, TypeError):
        known = False
    return ("answered", "") if known else ("invalid", repr(process.stdout[:200]))


def summary(
    counted: list[tuple[Counter[str], list[str]]], switches: Counter[str]
) -> dict[str, Any]:
    """Return the document that is printed."""
    counts: Counter[str] = Counter()
    for one, _ in counted:
        counts.update(one)
    return {
        "switches": dict(switches),
        "hooks": sum(counts.values()),
        **{kind: counts[kind] for kind in ("answered", "silent", "failed", "invalid")},
        "faults": [fault for _, faults in counted for fault in faults][:20],
    }


if __name__ == "__main__":
    sys.exit(main())
