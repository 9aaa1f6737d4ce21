"""A home of its own for every test; the real one is out of bounds."""

import os
import sys
from pathlib import Path

import pytest

REAL_HOME = Path.home()


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """A throwaway home that every process started by the test inherits."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("AGENTLAS", "CLAUDE", "CODEX", "GROK", "OPENCODE", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


@pytest.fixture(autouse=True, scope="session")
def real_home_untouched():
    """Touching the developer's own data folder fails the run."""
    folder = REAL_HOME / ".agentlas"
    before = folder.stat().st_mtime_ns if folder.exists() else None
    yield
    after = folder.stat().st_mtime_ns if folder.exists() else None
    assert before == after, f"a test touched {folder}"


def pytest_configure(config):
    """`slow`: takes seconds and does not depend on the Python; runs last, on one Python."""
    config.addinivalue_line("markers", "slow: takes seconds; runs last, and on one Python only")


def pytest_collection_modifyitems(items):
    """Run the quick tests first."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


@pytest.fixture(scope="session")
def launcher():
    """The installed `agentlas-memory-hook`."""
    return _installed("agentlas-memory-hook")


@pytest.fixture(scope="session")
def program():
    """The installed `agentlas-memory`."""
    return _installed("agentlas-memory")


def _installed(name):
    path = Path(sys.prefix, "bin", name)
    if not path.exists():
        pytest.fail(f"{path} is missing: scripts/test.sh runs the tests from an installed wheel")
    return path
