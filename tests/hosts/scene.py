"""What conformance starts from: a home with a trusted project, and our hook put into a host."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from agentlas_memory.capsule import TAG
from agentlas_memory.installer.surfaces import HostCommands, Place, WholeFile

FACT = "floats lose cents"
RULE = "Never store money as a float"
QUESTION = "why do we settle the ledger in integer minor units?"
LONG_QUESTION = "台帳はなぜ整数の最小単位で決済するのか"
_WORDS = ("台帳の送金", "元帳の返金", "口座の残高", "利息と手数料")
_LEDGER = f"# Ledger\n\nWe settle the ledger in integer minor units because {FACT}.\n"
_NOWHERE = "http://127.0.0.1:9"  # closed: whatever is not for the model server ends here


@dataclass
class Scene:
    """A person's home, a project of theirs, and where our things are."""

    home: Path
    project: Path
    place: Place

    @property
    def environment(self):
        """A clean environment, in which nothing but loopback can be reached."""
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        return {
            **self.place.environment,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_PROXY": "127.0.0.1,localhost",
            "GIT_ALLOW_PROTOCOL": "file",
        } | dict.fromkeys(names, _NOWHERE)

    def replace_hook(self, script):
        """Put a shell script in the place of the installed hook; None takes the hook away."""
        current = self.place.hook.parent.parent
        if current.is_symlink():
            current.unlink()
        self.place.hook.unlink(missing_ok=True)
        if script is not None:
            self.place.hook.parent.mkdir(parents=True, exist_ok=True)
            self.place.hook.write_text("#!/bin/sh\n" + script)
            self.place.hook.chmod(0o755)

    def manage(self, program, host_program, environment, *words):
        """Run `agentlas-memory` where a host's program is found, and return what it told."""
        path = f"{host_program.parent}{os.pathsep}{environment['PATH']}"
        done = subprocess.run(
            [program, *words, "--json"],
            env=environment | {"PATH": path},
            cwd=self.project,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def ask_raw(self, launcher, prompt):
        """Return what our hook says to a prompt without a host."""
        command = [launcher, "--host", "raw", "--cwd", self.project, "--prompt", prompt]
        done = subprocess.run(command, env=self.environment, capture_output=True, check=True)
        return done.stdout.decode().strip()


def build_scene(home, project, program):
    """Index and trust a project with one decision and one constraint."""
    place = Place(home, home / ".agentlas", {"HOME": str(home), "PATH": os.environ["PATH"]})
    scene = Scene(home, project, place)
    (project / "docs").mkdir(parents=True)
    (project / "docs/ledger.md").write_text(_LEDGER, encoding="utf-8")
    for words in (["init"], ["remember", f"{RULE}.", "--kind", "constraint"], ["index"]):
        command = [program, *words, "--project", project]
        subprocess.run(command, env=scene.environment, check=True, capture_output=True)
    current = place.data_home / "runtime/current"
    current.parent.mkdir(exist_ok=True)
    current.symlink_to(sys.prefix)
    return scene


def write_long_documents(scene, program):
    """Fill the project with four pages whose lines in a capsule are as long as they get."""
    for page in range(4):
        lines = (
            f"第{page * 40 + n}項{_WORDS[n % 4]}は整数の最小単位で決済する。" for n in range(40)
        )
        file = scene.project / "docs" / ("台帳" * 30) / f"{page}{'決済' * 30}.md"
        file.parent.mkdir(exist_ok=True)
        heading = f"# 台帳{page} " + "整数" * 95
        file.write_text(f"{heading}\n\n{''.join(lines)}\n", encoding="utf-8")
    command = [program, "index", "--project", scene.project]
    subprocess.run(command, env=scene.environment, check=True, capture_output=True)


def put_in_place(spec, place, run_host):
    """Do what the installer does with a host's surfaces."""
    for surface in spec.surfaces(place):
        if isinstance(surface, WholeFile):
            surface.path.parent.mkdir(parents=True, exist_ok=True)
            surface.path.write_text(surface.text, encoding="utf-8")
        elif isinstance(surface, HostCommands):
            for command in surface.install:
                run_host(*command)


def take_out(spec, place, run_host):
    """Do what the uninstaller does with a host's commands."""
    for surface in spec.surfaces(place):
        if isinstance(surface, HostCommands):
            for command in surface.uninstall:
                run_host(*command)


def capsules(texts):
    """Return every capsule in some texts, whole, in their order."""
    found = []
    for text in texts:
        for part in text.split(f"<{TAG} ")[1:]:
            body, end, _ = part.partition(f"</{TAG}>")
            found.append(f"<{TAG} {body}{end}")
    return found


def files_below(folder):
    """Return every file below a folder with its bytes."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def is_sleeping(pid):
    """Tell whether a process that went to sleep is still there."""
    try:
        return b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def leftovers(spec, place):
    """Return the folders of ours that the host's own uninstall leaves behind."""
    surfaces = spec.surfaces(place)
    return next(one.leftovers for one in surfaces if isinstance(one, HostCommands))
