"""OpenCode itself in a throwaway home, with our plugin in it and a model on loopback.

Where it does not find its configuration, OpenCode falls back to a model of its own in the network.
So every path is absolute, one provider is allowed, and all other traffic goes to a closed port.

With a plugin in a folder, it waits at each start until npm has put @opencode-ai/plugin there. It
does not ask npm where `node_modules` exists and the root of the lock file names that dependency.
"""

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from agentlas_memory.host_adapters.opencode.install_spec import SPEC
from agentlas_memory.installer.surfaces import Place

VERSION = "1.18.33"
_SECONDS = 150
_FLAGS = ("MODELS_FETCH", "AUTOUPDATE", "SHARE", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")


class World:
    """A home, a project, a model, and OpenCode on top of them."""

    def __init__(self, folder, program, model):
        self.program, self.model, self.folder = program, model, folder
        self.home, self.project = folder / "home", folder / "project"
        self.project.mkdir(parents=True)
        self.place = Place(self.home, self.home / ".agentlas", {})
        self.config = self.home / ".config/opencode"
        (surface,) = SPEC.surfaces(self.place)
        self.plugin = surface.path
        self.configure({})
        seed(self.config)
        self.install(surface.text)
        self.environment = self._environment()
        self.server = None

    def install(self, text):
        self.plugin.parent.mkdir(exist_ok=True)
        self.plugin.write_text(text)

    def configure(self, more):
        """Write OpenCode's settings: our model alone, everything allowed, `more` on top."""
        model = {"limit": {"context": 100000, "output": 4000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": self.model.url, "apiKey": "none"},
            "models": {"large": model, "small": model},
        }
        settings = {
            "autoupdate": False,
            "share": "disabled",
            "model": "mock/large",
            "small_model": "mock/small",
            "enabled_providers": ["mock"],
            "permission": {"*": "allow"},
            "provider": {"mock": provider},
        }
        self.config.mkdir(parents=True, exist_ok=True)
        (self.config / "opencode.json").write_text(json.dumps(settings | more))

    def _environment(self):
        allowed = {"enabled_providers": ["mock"], "model": "mock/large"}
        temporary = self.folder / "tmp"
        temporary.mkdir()
        closed = "http://127.0.0.1:9"
        return {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "TMPDIR": str(temporary),
            "HTTP_PROXY": closed,
            "HTTPS_PROXY": closed,
            "NO_PROXY": "127.0.0.1,localhost",
            "OPENCODE_CONFIG_CONTENT": json.dumps(allowed),
            **{f"OPENCODE_DISABLE_{flag}": "1" for flag in _FLAGS},
        }

    def hook(self, script):
        """Put a shell script in the hook's place."""
        self.place.hook.parent.mkdir(parents=True, exist_ok=True)
        self.place.hook.unlink(missing_ok=True)
        self.place.hook.write_text(f"#!/bin/sh\n{script}")
        self.place.hook.chmod(0o755)

    def link_hook(self, launcher):
        """Put the installed hook there."""
        self.place.hook.parent.mkdir(parents=True, exist_ok=True)
        self.place.hook.unlink(missing_ok=True)
        self.place.hook.symlink_to(launcher)

    def settings(self, **values):
        self.place.data_home.mkdir(parents=True, exist_ok=True)
        values = {name.replace("__", "."): value for name, value in values.items()}
        (self.place.data_home / "settings.json").write_text(json.dumps(values))

    def run(self, *words, **environment):
        """Run `opencode run`; return what came of it."""
        command = [self.program, "run", *words]
        options = {"cwd": self.project, "env": self.environment | environment}
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )
        try:
            out, err = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def serve(self, **environment):
        """Start `opencode serve` and wait until it listens."""
        log = self.folder / "serve.log"
        with log.open("w") as file:
            self.server = subprocess.Popen(
                [self.program, "serve", "--port", "0"],
                cwd=self.project,
                env=self.environment | environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        deadline = time.monotonic() + _SECONDS
        while "listening on " not in log.read_text():
            assert self.server.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        self.url = log.read_text().partition("listening on ")[2].split()[0]

    def ask(self, method, path, body=None, directory=None):
        """Call the server; return status and answer."""
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "content-type": "application/json",
                "x-opencode-directory": str(directory or self.project),
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def session(self, directory=None):
        return self.ask("POST", "/session", {}, directory)[1]["id"]

    def prompt(self, session, text, directory=None):
        """Send a prompt; return the requests for it that reached the model, titles left out."""
        before = len(self.model.requests)
        body = {"parts": [{"type": "text", "text": text}]}
        status, answer = self.ask("POST", f"/session/{session}/message", body, directory)
        assert status == 200, answer
        return [request for request in self.model.requests[before:] if request.kind != "title"]

    def stop(self):
        """End the server if it runs."""
        if self.server is not None and self.server.poll() is None:
            self.server.terminate()
            try:
                self.server.wait(10)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()


def seed(config):
    """Have OpenCode find what it would ask npm for."""
    (config / "node_modules").mkdir(parents=True)
    wanted = {"dependencies": {"@opencode-ai/plugin": "*"}}
    (config / "package.json").write_text(json.dumps(wanted))
    lock = {"lockfileVersion": 3, "packages": {"": wanted}}
    (config / "package-lock.json").write_text(json.dumps(lock))


def program_in(package):
    """Return the program in the installed npm package: `opencode.exe` on every system, of late."""
    return next((package / "bin").glob("opencode*"))


def alive(pid):
    """Tell whether a process runs; one that only waits to be reaped does not."""
    try:
        stat = Path("/proc", str(pid), "stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def all_end(pids, seconds):
    """Tell whether these processes end within that time."""
    deadline = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(alive, pids))
