"""The real Claude Code, in a throwaway home, before a model of our own."""

import json
import subprocess
from functools import partial

import pytest
from hosts.claude.model_server import ModelServer, texts_of
from hosts.fetch import Unavailable, npm_package
from hosts.scene import build_scene, capsules, put_in_place, take_out

from agentlas_memory.host_adapters.claude.install_spec import SPEC

_SECONDS = 120


class Claude:
    """One installation with its project and its model."""

    def __init__(self, program, scene, model):
        self.program, self.scene, self.model = program, scene, model

    def run(self, *words, stdin=""):
        """Run the program, which must succeed, and return what it printed."""
        done = subprocess.run(
            [self.program, *words],
            input=stdin,
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
        return self.scene.environment | {
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "dummy",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def ask(self, *prompts, session="", model="haiku", tools="Agent"):
        """Put prompts in one process; return the session's id. `results` are the answers."""
        lines = [
            json.dumps({"type": "user", "message": {"role": "user", "content": prompt}}) + "\n"
            for prompt in prompts
        ]
        output = self.run(
            *("-p", "--input-format", "stream-json", "--output-format", "stream-json"),
            *("--verbose", "--model", model, "--allowedTools", tools),
            *(("--resume", session) if session else ()),
            stdin="".join(lines),
        )
        events = [json.loads(line) for line in output.splitlines()]
        results = [event for event in events if event["type"] == "result"]
        self.results = [event["result"] for event in results]
        return results[-1]["session_id"]

    def told(self, request=-1):
        """Return the capsules in one of the model's requests."""
        return capsules(texts_of(self.model.requests[request]["messages"]))

    def install(self):
        put_in_place(SPEC, self.scene.place, self.run)

    def uninstall(self):
        take_out(SPEC, self.scene.place, self.run)


@pytest.fixture
def holds(check):
    """Record a check of this host."""
    return partial(check, SPEC.name, SPEC.verified)


@pytest.fixture(scope="session")
def claude_program():
    try:
        package = npm_package("@anthropic-ai/claude-code", SPEC.verified)
    except Unavailable as error:
        pytest.skip(f"claude {SPEC.verified}: {error}")
    return package.parents[1] / ".bin/claude"


@pytest.fixture
def bare(claude_program, program, home, tmp_path):
    """Claude Code without our hook, in a project that has a store."""
    scene = build_scene(home, tmp_path / "project", program)
    with ModelServer() as model:
        yield Claude(claude_program, scene, model)


@pytest.fixture
def manage(bare, program):
    """Run `agentlas-memory` beside this host."""
    return partial(bare.scene.manage, program, bare.program, bare.environment)


@pytest.fixture
def raw(launcher, bare):
    """What our hook says to a prompt, asked without a host."""

    return partial(bare.scene.ask_raw, launcher)


@pytest.fixture
def claude(bare):
    """Claude Code with our hook."""
    bare.install()
    return bare
