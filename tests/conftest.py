"""A home of its own for every test; the real one is out of bounds."""

import hashlib
import importlib.util
import json
import os
import shutil
import signal
import sys
import tempfile
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


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory):
    """One data folder for many: the model's stamp is in it, and hashing the model takes 50 ms."""
    folder = tmp_path_factory.mktemp("agentlas")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTLAS_HOME", str(folder))  # for what is made once for several tests
        yield folder


@pytest.fixture
def one_data_home(home, data_folder, monkeypatch):
    """Let a test share that folder."""
    monkeypatch.setenv("AGENTLAS_HOME", str(data_folder))
    return data_folder


@pytest.fixture(autouse=True, scope="session")
def real_home_untouched():
    """Touching the developer's own data folder fails the run."""
    before = _times_in(REAL_HOME / ".agentlas")
    yield
    assert _times_in(REAL_HOME / ".agentlas") == before


def _times_in(folder):
    return {
        path: path.lstat().st_mtime_ns for path in (folder, *folder.rglob("*")) if path.exists()
    }


def pytest_configure(config):
    """Give fixtures of a wider scope a throwaway home too, and name our marker."""
    os.environ["HOME"] = tempfile.mkdtemp(prefix="home-")
    # A job in the background ignores Ctrl-C, and its children inherit that: some are sent one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "slow: takes seconds; runs last, and on one Python only")
    config.addinivalue_line("markers", "conformance: runs a real host; by scripts/conformance.sh")
    config.addinivalue_line("markers", "nightly: takes minutes; for scripts/fuzz/nightly.sh")


def pytest_unconfigure():
    """Take the home away."""
    shutil.rmtree(os.environ["HOME"], ignore_errors=True)


def pytest_collection_modifyitems(config, items):
    """Run the quick tests first; real hosts only when they are asked for."""
    if "conformance" not in config.option.markexpr:
        real = [item for item in items if item.get_closest_marker("conformance")]
        config.hook.pytest_deselected(items=real)
        items[:] = [item for item in items if item not in real]
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


@pytest.fixture(scope="session")
def make_card():
    """Write a routing card that verifies, and the agent's own card, into a project."""

    def make(root, slug="Ledger Keeper", **changes):
        (root / "agents").mkdir(exist_ok=True)
        data = json.dumps({"slug": "ledger_keeper", "about": "keeps ledgers"}).encode()
        (root / "agents/card.json").write_bytes(data)
        reference = {"path": "agents/card.json", "content_hash": hashlib.sha256(data).hexdigest()}
        card = {"slug": slug, "routing_status": "routing_ready", "agent_card_ref": reference}
        (root / ".agentlas").mkdir(exist_ok=True)
        (root / ".agentlas/routing-card.json").write_text(json.dumps(card | changes))

    return make


@pytest.fixture(scope="session")
def load_script():
    """Import one of `scripts/` by its name."""

    def load(name):
        file = Path(__file__).parents[1] / "scripts" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


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
