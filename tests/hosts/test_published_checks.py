"""docs/conformance.md has exactly the checks that the tests know, and says what it is made of."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hosts.known_checks import patterns_of

from agentlas_memory.installer.hosts import HOSTS, specs_of

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts/conformance_table.py"
PUBLISHED = (ROOT / "docs/conformance.md").read_text(encoding="utf-8")
VERIFIED, _, NEWEST = PUBLISHED.partition("\n## The newest versions\n")


def rows_of(host):
    """Return the published rows of a host: version, check, result."""
    lines = [line for line in VERIFIED.splitlines() if line.startswith(f"| {host} | ")]
    rows = [line.strip("| ").split(" | ") for line in lines]
    return [row[1:] for row in rows if len(row) == 4]


@pytest.mark.parametrize("host", HOSTS)
def test_the_published_checks_are_those_that_the_tests_know(host):
    published = [check for _, check, _ in rows_of(host)]
    patterns = patterns_of(host)
    matched = {
        pattern for pattern in patterns for check in published if re.fullmatch(pattern, check)
    }
    unknown = [c for c in published if not any(re.fullmatch(p, c) for p in patterns)]
    assert unknown == []
    assert patterns - matched == set()


@pytest.mark.parametrize("host", HOSTS)
def test_they_were_made_on_the_verified_version_and_none_failed(host):
    [spec] = specs_of([host])
    assert {version for version, _, _ in rows_of(host)} == {spec.verified}
    assert {result.partition(":")[0] for _, _, result in rows_of(host)} <= {"ok", "n/a"}


def test_it_says_when_and_by_what():
    said = r"`sh scripts/conformance\.sh --report FILE` reported on \d{4}-\d\d-\d\d"
    assert re.search(said, VERIFIED)
    assert re.search(r"on \d{4}-\d\d-\d\d, by `sh scripts/conformance\.sh --newest", NEWEST)


@pytest.fixture
def table(tmp_path):
    """Run the script on reports."""

    def run(*reports):
        files = []
        for number, rows in enumerate(reports):
            files.append(tmp_path / f"{number}.jsonl")
            files[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
        words = [files[0], *(["--document", files[1]] if reports[1:] else [])]
        done = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def row(check, result, version="1.0"):
    return {"host": "grok", "version": version, "check": check, "result": result, "detail": ""}


def test_what_failed_and_what_was_skipped_is_counted_apart(table):
    rows = [row("a|b", "ok"), row("c", "failed"), row("d", "n/a: why"), row("e", "skipped: no net")]
    told = table(rows)
    assert "| grok | 1.0 | 1 | 1 | 1 | 1 |" in told
    assert "| grok | 1.0 | a/b | ok |" in told
    assert "| grok | 1.0 | c | **failed** |" in told
    assert "| grok | 1.0 | e | skipped: no net |" in told


def test_what_the_newest_version_does_otherwise_is_told(table):
    rows = [row("a", "ok"), row("b", "ok"), row("c", "ok")]
    told = table(rows, [row("a", "ok", "2.0"), row("b", "failed", "2.0")])
    differs = told.partition("What differs")[2]
    assert "| grok | 2.0 | b | **failed** |" in differs
    assert "| grok | 2.0 | c | not run |" in differs
    assert "| a |" not in differs


def test_a_newest_version_that_does_the_same_is_said_to(table):
    rows = [row("a", "ok")]
    assert "Each check has the result" in table(rows, [row("a", "ok", "2.0")])
