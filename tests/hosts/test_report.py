"""What conformance reports where a host's program cannot be had: skipped by name, never passed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HOSTS = Path(__file__).parent


@pytest.fixture
def run_conformance(tmp_path):
    """Run a host's conformance without npm; return pytest's result and the report's lines."""

    def run(host):
        report = tmp_path / "report"
        report.touch()
        values = {"PATH": str(tmp_path), "AGENTLAS_TEST_CACHE": str(tmp_path / "cache")}
        values["AGENTLAS_CONFORMANCE_REPORT"] = str(report)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs"]
        done = subprocess.run(
            [*command, "-m", "conformance", HOSTS / host],
            env=os.environ | values | {"PYTHONSAFEPATH": "1"},
            cwd=HOSTS.parents[1],
            capture_output=True,
            text=True,
        )
        return done, list(map(json.loads, report.read_text().splitlines()))

    return run


@pytest.mark.slow
@pytest.mark.parametrize("host", ["claude", "codex", "opencode"])
def test_a_program_that_cannot_be_had_is_skipped_by_name(run_conformance, host):
    done, lines = run_conformance(host)
    assert done.returncode == 0, done.stdout
    assert f"{host}: npm is not installed" in done.stdout
    told = {line["check"]: line["result"] for line in lines if not line["result"].startswith("n/a")}
    assert told == {"every check": "skipped: npm is not installed"}
