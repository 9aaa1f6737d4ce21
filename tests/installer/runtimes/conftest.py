"""Releases in two versions, and homes in which the first of them is installed."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import release_bundles
from release_bundles import Unavailable, bootstrap, make_bundle, new_key, public_text

from agentlas_memory.installer.runtimes.history import History
from agentlas_memory.installer.runtimes.layout import Runtimes
from agentlas_memory.installer.runtimes.pointer import switch_current

NIGHTLY = os.environ.get("FUZZ_NIGHTLY") == "1"
FACT = "the ledger counts money in integer minor units"
OLD, NEW = "0.1.0", "0.2.0"
DAY = 86_400


def pytest_collection_modifyitems(items):
    """Leave what takes many minutes to the night."""
    for item in items:
        if "test_kills" in item.nodeid and item.get_closest_marker("nightly") and not NIGHTLY:
            item.add_marker(pytest.mark.skip("takes minutes: scripts/fuzz/nightly.sh runs it"))


@pytest.fixture(scope="session")
def key():
    return new_key()


@pytest.fixture(scope="session")
def wheels():
    """The dependencies' wheels, from PyPI."""
    try:
        return release_bundles.dependency_wheels()
    except Unavailable as error:
        pytest.skip(f"the dependencies cannot be fetched: {error}")


@pytest.fixture(scope="session")
def light_wheels(wheels):
    """Those that a small store and its hook need: a version is built in half the time."""
    heavy = ("numpy", "model2vec", "tokenizers", "hf_xet", "huggingface", "pygments", "joblib")
    return [wheel for wheel in wheels if not wheel.name.startswith(heavy)]


@pytest.fixture(scope="session")
def shelf(tmp_path_factory):
    """A folder for bundles that tests share."""
    return tmp_path_factory.mktemp("shelf")


@pytest.fixture(scope="session")
def old_bundle(shelf, key, light_wheels):
    return make_bundle(shelf, OLD, key, dependencies=light_wheels)


@pytest.fixture(scope="session")
def new_bundle(shelf, key, light_wheels):
    return make_bundle(shelf, NEW, key, dependencies=light_wheels)


@pytest.fixture(scope="session")
def template(tmp_path_factory, old_bundle):
    """What the install script's routine leaves, without hosts: to be copied, never changed."""
    home = tmp_path_factory.mktemp("template")
    done = bootstrap(old_bundle, "--no-hosts", environment=environment_of(home))
    assert done.returncode == 0, done.stderr
    return home


def environment_of(home):
    return {"HOME": str(home), "PATH": os.defpath}


class Machine:
    """A home with the first version in it, two hosts, and a project that it knows a fact of."""

    def __init__(self, home):
        self.home = home
        self.data = home / ".agentlas"
        self.runtimes = self.data / "runtime"
        self.hook = self.runtimes / "current/bin/agentlas-memory-hook"
        self.project = home / "project"
        self.environment = environment_of(home)
        self._sessions = 0

    def am(self, *words, **options):
        """Run the command that is active."""
        command = [self.runtimes / "current/bin/agentlas-memory", *words]
        return self.run(command, **options)

    def run(self, command, **options):
        return subprocess.run(
            list(map(str, command)),
            **{
                "capture_output": True,
                "text": True,
                "env": self.environment,
                "cwd": self.home,
                "timeout": 300,
                **options,
            },
        )

    def ask(self, hook=None, session=None):
        """Return how the hook answers a prompt, of a new session if none is named."""
        self._sessions += 1
        event = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": session or f"{os.getpid()}-{self._sessions}",
            "cwd": str(self.project),
            "prompt": "why does the ledger count money in integer minor units?",
        }
        command = [hook or self.hook, "--host", "claude"]
        return self.run(command, input=json.dumps(event))

    def answers(self, hook=None):
        """Tell whether the hook says what is known, and nothing else."""
        ran = self.ask(hook)
        return ran.returncode == 0 and ran.stderr == "" and FACT in ran.stdout

    @property
    def current(self):
        return os.readlink(self.runtimes / "current")

    @property
    def versions(self):
        names = {path.name for path in self.runtimes.iterdir() if path.is_dir()}
        return names - {"current"}

    def host_files(self):
        """Read what is below the home, but our own folder and the project."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and not {".agentlas", "project"} & set(path.parts)
        }


@pytest.fixture
def machine(template, home):
    """A machine to change: the versions' files are shared with the template by hard links."""
    (home / ".grok").mkdir()
    (home / ".grok/AGENTS.md").write_text("Answer in verse.\r\n")
    (home / ".config/opencode").mkdir(parents=True)
    shutil.copytree(template / ".agentlas", home / ".agentlas", symlinks=True, copy_function=_link)
    for file in ("history.json", "update.lock"):
        shared = home / ".agentlas/runtime" / file
        data = shared.read_bytes()
        shared.unlink()
        shared.write_bytes(data)
    machine = Machine(home)
    machine.project.mkdir()
    (machine.project / "ledger.md").write_text(f"# Ledger\n\nFloats lose cents: {FACT}.\n")
    for words in (("init",), ("index",)):
        done = machine.am(*words, "--project", machine.project)
        assert done.returncode == 0, done.stderr
    assert machine.am("install").returncode == 0
    assert machine.answers()
    return machine


def _link(source, target):
    if Path(source).is_symlink():
        return shutil.copy2(source, target, follow_symlinks=False)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


@pytest.fixture
def pin(home, key):
    """Pin the tests' key."""
    file = home / ".agentlas/release-key.pub"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(public_text(key))
    file.parent.chmod(0o700)  # whatever the umask: a pin that others may write is not believed
    file.chmod(0o600)
    return file


@pytest.fixture
def runtime_folder(home):
    """A machine on which 0.1.0 is active."""
    folder = home / ".agentlas/runtime"
    (folder / OLD / "bin").mkdir(parents=True)
    (folder / OLD / "runtime.json").write_text(json.dumps({"version": OLD, "id": OLD}))
    (folder / "current").symlink_to(OLD)
    return folder


@pytest.fixture
def runtimes(home):
    """The versions of a machine, none as yet."""
    return Runtimes(home / ".agentlas")


@pytest.fixture
def make_versions(runtimes):
    """Put versions there as an update leaves them."""

    def make(*names):
        for name in names:
            (runtimes.folder / name / "bin").mkdir(parents=True)
            facts = {"version": name.partition("~")[0], "id": name}
            (runtimes.folder / name / "runtime.json").write_text(json.dumps(facts))

    return make


@pytest.fixture
def activate(runtimes):
    """Let versions be current, one after the other, the last of them now."""

    def switch(*names):
        for name in names:
            History(runtimes).add(name)
            switch_current(runtimes.folder, name)

    return switch


@pytest.fixture
def age(runtimes):
    """Let all that the history tells be so many days longer ago."""

    def run(days):
        file = runtimes.folder / "history.json"
        values = json.loads(file.read_text())
        for entry in values["entries"]:
            entry["since"] -= days * DAY
        file.write_text(json.dumps(values))

    return run
