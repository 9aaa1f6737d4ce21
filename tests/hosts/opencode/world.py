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
import urllib.error
import urllib.request

from hosts.processes import within
from hosts.real_host import RealHost
from hosts.scene import write_files

_SECONDS = 150
_FLAGS = ("MODELS_FETCH", "AUTOUPDATE", "SHARE", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")


class World(RealHost):
    """A home, a project, a model, and OpenCode on top of them."""

    name = "opencode"

    def __init__(self, program, memory, home, model):
        super().__init__(program, memory, home, model)
        self.project.mkdir()
        self.config = home / ".config/opencode"
        self.plugin = self.config / "plugins/agentlas-memory.js"
        self.temporary = home.with_name(home.name + "-tmp")
        self.temporary.mkdir()
        self.configure({})
        seed(self.config)
        self.server = None

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

    @property
    def environment(self):
        allowed = {"enabled_providers": ["mock"], "model": "mock/large"}
        return {
            **super().environment,
            "TMPDIR": str(self.temporary),
            "OPENCODE_CONFIG_CONTENT": json.dumps(allowed),
            **{f"OPENCODE_DISABLE_{flag}": "1" for flag in _FLAGS},
        }

    def settings(self, **values):
        values = {name.replace("__", "."): value for name, value in values.items()}
        write_files(self.place.data_home, {"settings.json": json.dumps(values)})

    def ask(self, *words, **environment):
        """Run `opencode run`; return what came of it."""
        command = [self.program, "run", *words]
        process = subprocess.Popen(
            command,
            cwd=self.project,
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def serve(self, **environment):
        """Start `opencode serve` and wait until it listens."""
        log = self.temporary / "serve.log"
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
        gone = self.server.poll
        within(_SECONDS, lambda: "listening on " in log.read_text() or gone() is not None)
        assert "listening on " in log.read_text(), log.read_text()
        self.url = log.read_text().partition("listening on ")[2].split()[0]

    def call(self, method, path, body=None, directory=None):
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
        return self.call("POST", "/session", {}, directory)[1]["id"]

    def prompt(self, session, text, directory=None):
        """Send a prompt; return the requests for it that reached the model, titles left out."""
        before = len(self.model.requests)
        body = {"parts": [{"type": "text", "text": text}]}
        status, answer = self.call("POST", f"/session/{session}/message", body, directory)
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
