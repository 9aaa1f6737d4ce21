"""A throwaway home with Grok, our hook in it, and a project that has something to say."""

import json
import os
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hosts.fetch import Unavailable, pypi_package
from hosts.grok.model_server import serve

from agentlas_memory.host_adapters.grok.install_spec import SPEC
from agentlas_memory.installer.surfaces import MarkedBlock, Place

NOWHERE = "http://127.0.0.1:9"
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
base_url = "http://127.0.0.1:{port}/v1"
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


@dataclass
class Host:
    """Grok in one home, and what may be asked of it."""

    program: str
    version: str
    home: Path
    launcher: Path
    memory: Path
    model: object
    port: int
    variables: dict = field(default_factory=dict)

    @property
    def place(self):
        return Place(self.home, self.home / ".agentlas", self.variables)

    @property
    def environment(self):
        """All that Grok may count on; whatever is not loopback ends at a closed port."""
        off = dict.fromkeys(("TELEMETRY_ENABLED", "TELEMETRY_TRACE_UPLOAD", "MANAGED_CONFIG"), "0")
        return {
            "HOME": str(self.home),
            "PATH": os.defpath,
            "TERM": "dumb",
            "BROWSER": "/bin/false",
            "HTTPS_PROXY": NOWHERE,
            "NO_PROXY": "127.0.0.1",
            "GROK_DISABLE_AUTOUPDATER": "1",
            "GROK_CLI_CHAT_PROXY_BASE_URL": NOWHERE,
            **{f"GROK_{name}": value for name, value in off.items()},
            **self.variables,
        }

    def configure(self):
        """Name the model on loopback in Grok's own settings."""
        folder = self.grok_home
        folder.mkdir(parents=True, exist_ok=True)
        text = CONFIG.format(port=self.port, key="-".join(["no", "real", "key"]))
        (folder / "config.toml").write_text(text, encoding="utf-8")

    @property
    def grok_home(self):
        return Path(self.variables.get("GROK_HOME") or self.home / ".grok")

    def install(self):
        """Put the hook, the hooks file and the pointer in place."""
        hook = self.place.hook
        hook.parent.mkdir(parents=True, exist_ok=True)
        hook.symlink_to(self.launcher)
        for surface in SPEC.surfaces(self.place):
            surface.path.parent.mkdir(parents=True, exist_ok=True)
            before = read(surface.path)
            surface.path.write_text(before + body(surface), encoding="utf-8")

    def uninstall(self):
        """Take out what `install` put there."""
        for surface in SPEC.surfaces(self.place):
            left = read(surface.path).replace(body(surface), "")
            surface.path.write_text(left, encoding="utf-8")
            if not left:
                surface.path.unlink()
        self.place.hook.unlink()

    def make_project(self, name="project"):
        """Make a project below the home; return its folder."""
        return make_project(self.home / name, self.memory, self.environment)

    def ask(self, cwd, prompt, *options, script=None, seconds=60):
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


def make_project(root, memory, environment):
    """Write, index and trust a project; return its folder."""
    for path, text in DOCUMENTS.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for word in ("init", "index"):
        command = [memory, word, "--project", root]
        subprocess.run(command, env=environment, check=True, capture_output=True)
    return root


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


def body(surface):
    """Return the bytes that are ours in a surface's file."""
    if isinstance(surface, MarkedBlock):
        return f"{surface.begin}\n{surface.text}{surface.end}\n"
    return surface.text


def read(path):
    """Return a file's text, blank where there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


@pytest.fixture(scope="session")
def grok_program():
    """The pinned Grok, or the reason why it cannot be had."""
    try:
        folder = pypi_package("grok-cli-bin", SPEC.verified)
    except Unavailable as reason:
        pytest.skip(f"Grok {SPEC.verified}: {reason}")
    return str(folder / "grok_cli_bin" / "bin" / "grok")


@pytest.fixture
def model():
    """A model on loopback and its port."""
    with serve() as (model, port):
        yield model, port


@pytest.fixture
def bare_host(grok_program, model, home, launcher, program):
    """Grok in a home without anything of ours."""
    return Host(grok_program, SPEC.verified, home, launcher, program, *model)


@pytest.fixture
def host(bare_host):
    """Grok in a home with our hook and pointer."""
    bare_host.configure()
    bare_host.install()
    return bare_host
