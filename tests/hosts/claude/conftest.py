"""The real Claude Code, in a throwaway home, before a model of our own."""

import json

import pytest
from hosts.claude.model_server import ModelServer, texts_of
from hosts.real_host import RealHost
from hosts.scene import LEDGER, RULE, capsules


class Claude(RealHost):
    """Claude Code; `answers` are what it printed of the model's when it was asked last."""

    name = "claude"

    @property
    def environment(self):
        return super().environment | {
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "dummy",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def ask(self, *prompts, session="", model="haiku", tools="Agent"):
        """Put prompts in one process; return the session's id."""
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
        self.answers = [event["result"] for event in results]
        return results[-1]["session_id"]

    def told(self, request=-1):
        """Return the capsules in one of the model's requests."""
        return capsules(texts_of(self.model.requests[request]["messages"]))


@pytest.fixture
def bare(real_program, program, home):
    """Claude Code without our hook, in a project that has a store."""
    with ModelServer() as model:
        claude = Claude(real_program, program, home, model)
        claude.make_known(claude.project, LEDGER, RULE)
        yield claude


@pytest.fixture
def claude(bare):
    """Claude Code with our hook."""
    bare.install()
    return bare
