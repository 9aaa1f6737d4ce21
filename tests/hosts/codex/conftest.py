"""The real Codex, in a throwaway home, before a model of our own."""

import json

import pytest
from hosts.codex.model_server import ModelServer, items_of
from hosts.real_host import RealHost
from hosts.scene import LEDGER, RULE, capsules

from agentlas_memory.installer.codex_trust import read_trust

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


class Codex(RealHost):
    """Codex; `answers` are what it printed of the model's when it was asked last."""

    name = "codex"

    @property
    def environment(self):
        return super().environment | {"LOOPBACK_KEY": "dummy"}

    @property
    def folder(self):
        return self.home / ".codex"

    @property
    def config(self):
        return self.folder / "config.toml"

    def ask(self, prompt, session="", *flags):
        """Put a prompt; return the session's id."""
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

    def statuses(self):
        """Return what Codex thinks of our hooks."""
        return {hook.status for hook in read_trust(str(self.program), self.environment)}


@pytest.fixture
def bare(real_program, program, home):
    """Codex without our hook, in a project that has a store."""
    with ModelServer() as model:
        codex = Codex(real_program, program, home, model)
        codex.make_known(codex.project, LEDGER, RULE)
        codex.folder.mkdir()
        codex.config.write_text(_CONFIG.replace("URL", model.url))
        yield codex


@pytest.fixture
def codex(bare):
    """Codex with our hook, trusted."""
    bare.install("--trust-codex")
    return bare
