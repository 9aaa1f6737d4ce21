"""Antigravity's events, and the projects and processes of the hook's own tests."""

import json
from pathlib import Path

import pytest
from hook.conftest import (  # noqa: F401
    data,
    environment,
    index,
    make_project,
    note,
    receipt,
    run_hook,
    run_patched,
    settings,
)

FIXTURES = Path(__file__).parent / "fixtures"
RULE = "Rule: no call inside a transaction."
LEDGER = "# Ledger\n\nWe settle the ledger in integer minor units because floats lose cents.\n"


@pytest.fixture
def payload():
    """An event as the host sends it, with other fields on request."""

    def make(name="PreInvocation", **fields):
        return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8")) | fields

    return make


@pytest.fixture
def project(make_project, note):  # noqa: F811
    """A project with a rule, which is its state, and a document."""
    rule = note(RULE, "constraint", identity="b2")
    files = {".agentlas/ontology-inbox/rule.md": rule, "docs/ledger.md": LEDGER}
    return make_project(files)


@pytest.fixture
def message():
    """Decode the host's answer, blank for the empty one; nothing else may be in it."""

    def decode(answer):
        if answer == b"{}":
            return ""
        ((key, steps),) = json.loads(answer.decode("ascii")).items()
        (step,) = steps
        assert (key, set(step)) == ("injectSteps", {"ephemeralMessage"})
        return step["ephemeralMessage"]

    return decode
