"""Hooks that fire while versions change: `scripts/update_under_load.py`, a short run of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "update_under_load.py"


@pytest.mark.slow
def test_no_hook_fails_while_versions_change(old_bundle, new_bundle):
    command = [sys.executable, SCRIPT, old_bundle, new_bundle, "--rounds", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=550)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert document["switches"] == {"updated": 2, "rolled back": 2}
    assert document["hooks"] == document["answered"] + document["silent"] > 50
    assert document["answered"] > 0 and document["faults"] == []
