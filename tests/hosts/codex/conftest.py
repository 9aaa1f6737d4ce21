"""The real Codex, in a throwaway home, before a model of our own."""

import contextlib
import json
import os
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest
from hosts.codex.model_server import ModelServer, items_of
from hosts.fetch import Unavailable, npm_package
from hosts.scene import build_scene, capsules, put_in_place, take_out

from agentlas_memory.host_adapters.codex.install_spec import SPEC
from agentlas_memory.installer.codex_trust import set_trust

_SECONDS = 120
_CONFIG = """\
model = "some-model"
model_provider = "loopback"
check_for_update_on_startup = false  # a person's comment
approval_policy = "never"
sandbox_mode = "read-only"
model_auto_compact_token_limit = 50000

[analytics]
enabled = false

[otel]
exporter = "none"

[model_providers.loopback]
name = "loopback"
base_url = "URL"
env_key = "LOOPBACK_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
"""


class Codex:
    """One installation with its project and its model."""

    def __init__(self, program, scene, model):
        self.program, self.scene, self.model = program, scene, model

    def run(self, *words):
        """Run the program, which must succeed, and return what it printed."""
        done = subprocess.run(
            [self.program, *words],
            stdin=subprocess.DEVNULL,
            env=self.environment,
            cwd=self.scene.project,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def environment(self):
        return self.scene.environment | {"LOOPBACK_KEY": "dummy"}

    @property
    def folder(self):
        return self.scene.home / ".codex"

    def ask(self, prompt, session="", *flags):
        """Put a prompt; return the session's id. `answers` is what Codex printed of the model."""
        words = ("resume", session) if session else ()
        output = self.run("exec", *words, "--json", "--skip-git-repo-check", *flags, prompt)
        events = [json.loads(line) for line in output.splitlines()]
        items = [event["item"] for event in events if event["type"] == "item.completed"]
        self.answers = [item["text"] for item in items if item["type"] == "agent_message"]
        [started] = [event for event in events if event["type"] == "thread.started"]
        return started["thread_id"]

    def told(self, request=-1):
        """Return the capsules in one of the model's requests."""
        return capsules(text for _, text in items_of(self.model.requests[request]))

    def install(self):
        put_in_place(SPEC, self.scene.place, self.run)

    def trust(self):
        return set_trust(str(self.program), self.environment)

    def uninstall(self):
        take_out(SPEC, self.scene.place, self.run)


@pytest.fixture
def holds(check):
    """Record a check of this host."""
    return partial(check, SPEC.name, SPEC.verified)


@pytest.fixture(scope="session")
def codex_program():
    try:
        package = npm_package("@openai/codex", SPEC.verified)
    except Unavailable as error:
        pytest.skip(f"codex {SPEC.verified}: {error}")
    return package.parents[1] / ".bin/codex"


@pytest.fixture
def bare(codex_program, program, home, tmp_path):
    """Codex without our hook, in a project that has a store."""
    scene = build_scene(home, tmp_path / "project", program)
    with ModelServer() as model:
        codex = Codex(codex_program, scene, model)
        codex.folder.mkdir()
        (codex.folder / "config.toml").write_text(_CONFIG.replace("URL", model.url))
        yield codex
        end_daemons(scene.home)


def end_daemons(home):
    """End the servers that Codex's screen starts from a copy of itself in its home, and leaves."""
    for link in Path("/proc").glob("[0-9]*/exe"):
        with contextlib.suppress(OSError):  # another user's, or it has just ended
            if link.readlink().is_relative_to(home):
                os.kill(int(link.parent.name), signal.SIGKILL)


@pytest.fixture
def manage(bare, program):
    """Run `agentlas-memory` beside this host."""
    return partial(bare.scene.manage, program, bare.program, bare.environment)


@pytest.fixture
def raw(launcher, bare):
    """What our hook says to a prompt, asked without a host."""

    return partial(bare.scene.ask_raw, launcher)


@pytest.fixture
def untrusted(bare):
    """Codex with our hook, which nobody has said yes to."""
    bare.install()
    return bare


@pytest.fixture
def codex(untrusted):
    """Codex with our hook, trusted."""
    assert {hook.status for hook in untrusted.trust()} == {"trusted"}
    return untrusted
