"""A real host in a throwaway home, with what all hosts have in common."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from hosts.scene import FACT, RULE, write_files

from agentlas_memory.installer.hosts import specs_of
from agentlas_memory.installer.surfaces import Place

_SECONDS = 120
_NOWHERE = "http://127.0.0.1:9"  # closed: whatever is not for the model server ends here


class RealHost:
    """A host's program, `agentlas-memory` beside it, a home, a project, and a model on loopback.

    `variables` are what the person has set, for the host and for us.
    """

    name = ""  # as in `--host`

    def __init__(self, program, memory, home, model):
        self.program, self.memory, self.home, self.model = program, memory, home, model
        self.project = home.with_name(home.name + "-project")
        self.variables = {}

    @property
    def spec(self):
        [spec] = specs_of([self.name])
        return spec

    @property
    def place(self):
        return Place(self.home, self.home / ".agentlas", self.variables)

    @property
    def environment(self):
        """A clean environment, in which nothing but loopback can be reached."""
        return {
            "HOME": str(self.home),
            "PATH": f"{self.program.parent}{os.pathsep}{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "BROWSER": "/bin/false",
            "NO_PROXY": "127.0.0.1,localhost",
            "GIT_ALLOW_PROTOCOL": "file",
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), _NOWHERE),
            **self.variables,
        }

    def run(self, *words, stdin=""):
        """Run the host's program, which must succeed, and return what it printed."""
        done = subprocess.run(
            [self.program, *words],
            input=stdin,
            env=self.environment,
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def run_memory(self, *words):
        """Run `agentlas-memory` as the person of this home, and return what it printed."""
        command = [self.memory, *words]
        done = subprocess.run(
            command, env=self.environment, cwd=self.home, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def install(self, *words):
        """Have our own installer put the hook into this host; return what it told."""
        told = self.run_memory("install", "--host", self.name, "--json", *words)
        [host] = json.loads(told)["hosts"]
        assert host["detected"], told
        return host

    def uninstall(self):
        """Have our own installer take the hook out again; return what it told."""
        [host] = json.loads(self.run_memory("uninstall", "--json"))["hosts"]
        return host

    def make_known(self, project, files, *rules):
        """Write files into a project, index it and say yes to it; return its folder."""
        write_files(project, files)
        self.run_memory("init", "--project", project)
        for rule in rules:
            self.run_memory("remember", f"{rule}.", "--kind", "constraint", "--project", project)
        self.run_memory("index", "--project", project)
        return project

    def replace_hook(self, script, opening="#!/bin/sh\n"):
        """Put a shell script in the place of the installed hook; None takes the hook away."""
        hook = self.place.hook
        current = hook.parent.parent
        if current.is_symlink():
            current.unlink()  # never through the link: behind it is the environment of the tests
        hook.unlink(missing_ok=True)
        if script is not None:
            write_files(hook.parent, {hook.name: opening + script})
            hook.chmod(0o755)

    def restore_hook(self):
        """Put the installed hook back."""
        self.replace_hook(None)
        current = self.place.hook.parent.parent
        if current.is_dir():
            self.place.hook.parent.rmdir()
            current.rmdir()
        current.symlink_to(sys.prefix)

    def ask_raw(self, prompt):
        """Return what our hook says to a prompt without a host."""
        words = ("--host", "raw", "--cwd", self.project, "--prompt", prompt)
        command = [Path(sys.prefix, "bin/agentlas-memory-hook"), *words]
        done = subprocess.run(command, env=self.environment, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def ask_with_a_slow_hook(self, prompt):
        """Ask while the hook sleeps for a minute: the seconds it took, the hooks' processes."""
        pids = self.home / "pids"
        self.replace_hook(f"echo $$ >> '{pids}'; exec sleep 60")
        started = time.monotonic()
        self.ask(prompt)
        return time.monotonic() - started, pids.read_text().split()

    def counts(self, request=-1):
        """Count the capsules with the fact and those with the rule in a request, by `told`."""
        told = self.told(request)
        return sum(FACT in one for one in told), sum(RULE in one for one in told)
