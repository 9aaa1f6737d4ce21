"""A throwaway home with Grok, our hook in it, and a project that has something to say."""

import json
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from hosts.grok.model_server import ModelServer
from hosts.real_host import RealHost

CACHE = ".agentlas/runtime-memory-context/grok"
CONFIG = """[cli]
auto_update = false
[features]
telemetry = false
feedback = false
[models]
default = "mock"
[model.mock]
model = "mock-model"
base_url = "{url}/v1"
name = "Mock"
api_key = "{key}"
api_backend = "chat_completions"
context_window = 200000
"""
DOCUMENTS = {
    "docs/ledger.md": "# Ledger\n\nWe settle the ledger in integer minor units: floats lose.\n",
    "docs/login.md": "# Login\n\nSession cookies rotate every ninety minutes after a login.\n",
}
LEDGER = ("why do we settle the ledger in integer minor units?", "integer minor units: floats lose")
LOGIN = ("how often do session cookies rotate after a login?", "rotate every ninety minutes")
SILENT = "thanks"


class Grok(RealHost):
    """Grok in one home, and what may be asked of it."""

    name = "grok"

    @property
    def environment(self):
        off = dict.fromkeys(("TELEMETRY_ENABLED", "TELEMETRY_TRACE_UPLOAD", "MANAGED_CONFIG"), "0")
        return {
            **super().environment,
            "GROK_DISABLE_AUTOUPDATER": "1",
            "GROK_CLI_CHAT_PROXY_BASE_URL": "http://127.0.0.1:9",
            **{f"GROK_{name}": value for name, value in off.items()},
        }

    def configure(self):
        """Name the model on loopback in Grok's own settings."""
        self.grok_home.mkdir(parents=True, exist_ok=True)
        text = CONFIG.format(url=self.model.url, key="-".join(["no", "real", "key"]))
        (self.grok_home / "config.toml").write_text(text, encoding="utf-8")

    @property
    def grok_home(self):
        return Path(self.variables.get("GROK_HOME") or self.home / ".grok")

    def make_project(self, name="project"):
        """Make a project below the home; return its folder."""
        return self.make_known(self.home / name, DOCUMENTS)

    def ask(self, cwd, prompt, *options, script=None, seconds=120):
        """Run one prompt without a terminal; return the finished process."""
        self.model.start(*(script or []))
        return subprocess.run(
            [self.program, "-p", prompt, *options],
            cwd=cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )

    @contextmanager
    def session(self, cwd):
        """Open a session as an editor does; yield a function that sends a prompt."""
        command = [self.program, "agent", "--always-approve", "stdio"]
        with subprocess.Popen(
            command, cwd=cwd, env=self.environment, stdin=-1, stdout=-1, stderr=-1, text=True
        ) as process:
            try:
                call = _caller(process)
                call("initialize", protocolVersion=1, clientCapabilities={})
                number = call("session/new", cwd=str(cwd), mcpServers=[])["sessionId"]

                def send(text, *script):
                    self.model.start(*script)
                    parts = [{"type": "text", "text": text}]
                    return call("session/prompt", sessionId=number, prompt=parts)

                yield send
            finally:
                process.kill()

    def trouble(self):
        """Return what the hook has to say about its last run."""
        receipts = self.home.glob(".agentlas/state/last/*.json")
        told = [json.loads(read(path)) for path in receipts]
        return [(one.get("silence_reason"), one.get("stages")) for one in told], read(
            self.home / ".agentlas/state/hook.log"
        )

    def index(self):
        """Return what the model would find in the index."""
        return json.loads(read(self.home / CACHE / "index.json") or "{}")

    def entry(self, workspace):
        """Return what the model would find in a workspace's entry."""
        return read(Path(self.index()[str(workspace)]))


def _caller(process):
    numbers = iter(range(1, 1000))

    def call(method, **params):
        number = next(numbers)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        for line in process.stdout:
            answer = json.loads(line)
            if answer.get("id") == number and "method" not in answer:
                return answer["result"]
        raise EOFError(process.stderr.read())

    return call


def read(path):
    """Return a file's text, blank where there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


@pytest.fixture
def bare_host(real_program, program, home):
    """Grok in a home without anything of ours."""
    with ModelServer() as model:
        yield Grok(real_program, program, home, model)


@pytest.fixture
def host(bare_host):
    """Grok in a home with our hook and pointer."""
    bare_host.configure()
    bare_host.install()
    return bare_host
