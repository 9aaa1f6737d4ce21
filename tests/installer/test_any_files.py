"""Whatever hosts' files look like and whatever becomes of them: ours goes, theirs stays.

2,000 homes with FUZZ_NIGHTLY=1, chosen anew each night; a few hundred, always the same, without.
"""

import json
import os
import re
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from host_files.edits import edit
from host_files.making import BROKEN, broken_json, broken_rules, objects, rules
from host_files.reading import (
    KEY,
    ours_in_object,
    text_of,
    theirs_around_block,
    theirs_in_object,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlas_memory.cli import cli
from agentlas_memory.commands import doctor
from agentlas_memory.host_adapters.antigravity.install_spec import AntigravitySpec
from agentlas_memory.host_adapters.grok.install_spec import SPEC as GROK
from agentlas_memory.host_adapters.opencode.install_spec import OpenCode
from agentlas_memory.installer import files
from agentlas_memory.installer.ledger import read_ledger
from agentlas_memory.installer.surfaces import JsonEntry, MarkedBlock

NIGHTLY = os.environ.get("FUZZ_NIGHTLY") == "1"
BLANK = "\ufeff \t\r\n"


class Home:
    """A home with three hosts in it, and the commands run on it."""

    def __init__(self, root):
        self.root = root
        self.hooks = root / ".gemini/config/hooks.json"
        self.rules = root / ".grok/AGENTS.md"
        self.own = [
            root / ".grok/hooks/agentlas-memory.json",
            root / ".config/opencode/plugins/agentlas-memory.js",
        ]
        for path in (self.hooks, self.rules, self.own[1].parent):
            path.parent.mkdir(parents=True)
        self.texts = {}  # of our own files, as the first version has them

    def is_changed(self, path, data):
        """Tell whether a file of our own holds what no version of ours wrote."""
        if path not in self.own:
            return False
        ours = self.texts.get(path, data)
        return re.fullmatch(re.escape(ours) + rb"(// version \d+\n)?", data) is None

    def run(self, *words):
        done = CliRunner().invoke(cli, list(words), prog_name="agentlas-memory")
        assert "This is a bug" not in done.stderr, done.stderr
        return done

    def files(self):
        """Return all files but those in our own folder: bytes and mode; of a link its target."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            info = path.lstat()
            if ".agentlas" in path.parts or stat.S_ISDIR(info.st_mode):
                continue
            data = os.readlink(path) if path.is_symlink() else path.read_bytes()
            found[path] = (data, 0 if path.is_symlink() else stat.S_IMODE(info.st_mode))
        return found


@contextmanager
def a_home(folder):
    """Make a home."""
    with tempfile.TemporaryDirectory(dir=folder) as root, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", root)
        patch.setenv("USERPROFILE", root)
        patch.setenv("PATH", f"{root}/bin")  # no host's program is there
        patch.setattr(files, "_PATIENCE", 0.0)  # nobody else writes here
        patch.setattr(doctor, "_all_checks", lambda place: [], raising=False)  # they take long
        yield Home(Path(root))


@contextmanager
def another_version(number):
    """Let the next version of the program have other texts and values."""

    def renew(surface):
        if isinstance(surface, JsonEntry):
            value = {**surface.value, "note": "v" * 40 * number}
            return JsonEntry(surface.path, surface.key, value)
        if isinstance(surface, MarkedBlock):
            text = f"{surface.text}\nSince version {number}.\n"
            return MarkedBlock(surface.path, surface.begin, surface.end, text)
        return type(surface)(surface.path, f"{surface.text}// version {number}\n")

    with pytest.MonkeyPatch.context() as patch:
        for spec in (AntigravitySpec, type(GROK), OpenCode) if number else ():
            real = spec.surfaces
            new = lambda self, place, _real=real: [renew(one) for one in _real(self, place)]  # noqa: E731
            patch.setattr(spec, "surfaces", new)
        yield


def lay_out(draw, home, path, contents):
    """Put a file in a home: of any content and mode, maybe behind links."""
    if not draw(st.integers(0, 5)):
        return
    kind = draw(st.sampled_from(["file", "file", "relative", "absolute", "chain"]))
    real = path
    if kind != "file":
        real = home.root / "dot files" / path.name
        real.parent.mkdir(exist_ok=True)
        step = path.with_name("step") if kind == "chain" else path
        step.symlink_to(real if kind == "absolute" else os.path.relpath(real, path.parent))
        if kind == "chain":
            path.symlink_to("step")
    real.write_bytes(draw(contents))
    real.chmod(draw(st.sampled_from([0o600, 0o640, 0o644, 0o444])))


def is_broken(path):
    return path.is_file() and path.read_bytes() in BROKEN


def theirs(path):
    """Return what is somebody else's in a file that can be read."""
    data = path.read_bytes() if path.is_file() else b""
    if path.name == "hooks.json":
        return theirs_in_object(data) if text_of(data).strip(BLANK) else []
    return theirs_around_block(data)


def check_step(home, before, kept, done, words):
    """Judge one command: by the files before and after it, and by what it said."""
    after = home.files()
    for path, (data, mode) in before.items():
        if path not in after:
            is_ours = path in home.own and (
                isinstance(data, str) or not home.is_changed(path, data)
            )
            assert is_ours or not text_of(kept_text(data)).strip(BLANK + "{}"), path
        elif isinstance(data, str) or data in BROKEN or home.is_changed(path, data):
            assert after[path] == (data, mode), path
        else:
            assert after[path][1] == mode, path
    for path in (home.hooks, home.rules):
        if is_broken(path):
            continue
        if path.is_file() or kept[path]:
            assert path.is_file() or not str(kept[path]).strip(BLANK), path
            if path.is_file():
                assert theirs(path) == kept[path], path
    assert not [path for path in home.root.rglob("*") if path.name.endswith(".new")]
    for path in (home.hooks, home.rules):
        refused = f"left as it is {path}: line " in done.stderr
        if is_broken(path) and words == ["install"]:
            assert refused
        if refused:
            assert is_broken(path)
            assert done.exit_code == 1 or "--fix" in words


def kept_text(data):
    """Return what of a file is not ours."""
    if isinstance(data, str):
        return b""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return "".join(theirs_in_object(data)).encode("utf-8", "surrogateescape")
    return theirs_around_block(data).encode("utf-8", "surrogateescape")


def step(home, words, version):
    before = home.files()
    kept = {
        path: theirs(path) if not is_broken(path) else None for path in (home.hooks, home.rules)
    }
    with another_version(version):
        done = home.run(*words)
    check_step(home, before, kept, done, words)
    return done


def is_off(path):
    data = path.read_bytes() if path.is_file() else b""
    value = ours_in_object(data) if text_of(data).strip(BLANK) and data not in BROKEN else None
    return isinstance(value, dict) and value.get("enabled") is False


def check_installed(home, version):
    """Everything of a host that is here stands, once; a second run finds nothing to do."""
    once = home.files()
    with another_version(version):
        home.run("install")
    assert home.files() == once
    if not home.texts:  # nobody has edited anything yet
        home.texts = {path: path.read_bytes() for path in home.own}
    if home.hooks.parent.is_dir() and not is_broken(home.hooks):
        value = ours_in_object(home.hooks.read_bytes())
        assert value.get("note", "") == "v" * 40 * version
        assert text_of(home.hooks.read_bytes()).count(json.dumps(KEY) + ":") >= 1
    if home.rules.parent.is_dir() and not is_broken(home.rules):
        data = home.rules.read_bytes()
        assert data.count(b"memory: begin -->") - data.count(b"begin -->.") == 1
        assert (b"version %d" % version in data) == bool(version)


def check_gone(home, done):
    """Nothing names our program but what was refused, and that was told."""
    told = done.stderr
    for path, (data, _) in home.files().items():
        if not isinstance(data, str) and b"agentlas-memory-hook" in data:
            assert path in home.own and "changed since" in told, path
    assert done.exit_code == ("left as it is" in told)
    left = read_ledger(home.root / ".agentlas").hosts()
    assert bool(left) == ("left as it is" in told), told


STEPS = ["edit"] * 5 + ["install", "install", "upgrade", "fix", "uninstall"]


@pytest.mark.slow
@settings(
    max_examples=2_000 if NIGHTLY else 400,
    derandomize=not NIGHTLY,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_ours_goes_and_theirs_stays_whatever_happens(in_memory, data):
    draw, version = data.draw, 0
    with a_home(in_memory) as home:
        lay_out(draw, home, home.hooks, objects() | objects() | objects() | broken_json)
        lay_out(draw, home, home.rules, rules() | rules() | rules() | broken_rules)
        original, edited = home.files(), False
        for name in ["install", *draw(st.lists(st.sampled_from(STEPS), max_size=5))]:
            off = is_off(home.hooks)
            if name == "edit":
                edit(
                    draw,
                    draw(
                        st.sampled_from([home.hooks, home.hooks, home.rules, home.rules, *home.own])
                    ),
                )
                edited = True
            elif name == "fix":
                step(home, ["doctor", "--fix"], version)
            elif name == "uninstall":
                check_gone(home, step(home, ["uninstall"], version))
            else:
                version += name == "upgrade"
                step(home, ["install"], version)
                check_installed(home, version)
                assert not off or is_off(home.hooks)
        check_gone(home, step(home, ["uninstall"], version))
        if not edited:
            assert home.files() == original
