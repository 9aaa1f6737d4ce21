"""What all hosts' tests share: a report of checks, and programs that may be missing here."""

import json
import os
from pathlib import Path

import pytest
from hosts.fetch import FETCHED

PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "opencode": "opencode-ai",
    "grok": "grok-cli-bin",
    "antigravity": "google-antigravity",
}
REPORT = os.environ.get("AGENTLAS_CONFORMANCE_REPORT")  # before each test's home hides it


@pytest.fixture
def check(request):
    """Record one conformance check by its sentence, and fail the test where it does not hold.

    One JSON line a check goes into the file that AGENTLAS_CONFORMANCE_REPORT names.
    """

    def record(host, version, sentence, holds, detail=""):
        version = FETCHED.get(PACKAGES.get(host), version)
        result = holds if isinstance(holds, str) else "ok" if holds else "failed"
        if REPORT:
            line = {"host": host, "version": version, "check": sentence, "result": result}
            with Path(REPORT).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line | {"detail": str(detail)[:500]}) + "\n")
        assert result != "failed", f"{host} {version}: {sentence}: {detail}"

    return record
