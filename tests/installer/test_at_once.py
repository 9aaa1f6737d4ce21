"""Two installers at once, and ours against a program that writes the same file all the time."""

import json
import subprocess
import sys

import pytest

from agentlas_memory.installer import replacing
from agentlas_memory.installer.replacing import Changed, put_text, remove_file

pytestmark = pytest.mark.slow

# Counts in a file of JSON, keeping what else is in it, and tells when a count of its own is lost
# (looked at twice: for an instant another's may be in place) or the file is half.
WRITER = """\
import json, os, sys, time
path, way = sys.argv[1:]
def read():
    with open(path) as file:
        return json.load(file)
def write(values):
    target = path if way == "in place" else path + ".theirs"
    with open(target, "w") as file:
        json.dump(values, file, indent=2)
    if way != "in place":
        os.replace(target, path)
count, said = 0, False
while not os.path.exists(path + ".stop"):
    values = read()
    if count and values["count"] != count:
        time.sleep(0.2)
        values = read()
        assert values["count"] == count, (values["count"], count)
    count += 1
    write({**values, "count": count})
    if not said:
        print("going", flush=True)
        said = True
    time.sleep(0.03)
print(count)
"""


@pytest.fixture
def start(program):
    """Start the program; it goes on beside the test."""
    children = []

    def run(*words):
        pipe = subprocess.PIPE
        children.append(
            subprocess.Popen([str(program), *words], stdout=pipe, stderr=pipe, text=True)
        )
        return children[-1]

    yield run
    for child in children:
        child.communicate()


def test_installers_at_once_do_what_one_does(hosts, start, am, snapshot):
    before = snapshot()
    assert am("install").code == 0
    installed = snapshot()
    assert am("uninstall").code == 0
    each = [["--host", name] for name in ("grok", "opencode", "antigravity")]
    for _ in range(20):
        for word, state in (("install", installed), ("uninstall", before)):
            children = [start(word, *words) for words in [*each, []]]
            for child in children:
                assert child.communicate()[1] is not None
                assert child.returncode == 0
            assert snapshot() == state


@pytest.mark.parametrize("way", ["renamed", "in place"])
def test_nothing_is_lost_of_what_another_program_writes_meanwhile(hosts, hooks, am, way):
    command = [sys.executable, "-c", WRITER, str(hooks), way]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "going\n"
    codes = [am(word, "--host", "antigravity").code for word in ["install", "uninstall"] * 20]
    hooks.with_name("hooks.json.stop").touch()
    count, errors = writer.communicate()
    assert (writer.returncode, errors) == (0, "")
    assert set(codes) <= {0, 1}
    assert codes.count(0) > 10, "it gets its turn"
    assert am("install", "--host", "antigravity").code == 0
    values = json.loads(hooks.read_text())
    assert (values["count"], values["theirs"]) == (int(count), {"PreInvocation": []})
    assert hooks.read_text().count('"agentlas-memory":') == 1


@pytest.fixture
def desk(tmp_path):
    """A folder with nothing in it."""
    (tmp_path / "desk").mkdir()
    return tmp_path / "desk"


def write_before_renaming(monkeypatch, path, texts):
    """Have somebody write the file at the last moment: between our last look and our renaming."""
    real, texts = replacing.rename, iter(texts)

    def rename(source, target, way):
        text = next(texts, None)
        if text is not None:
            path.write_text(text)
        return real(source, target, way)

    monkeypatch.setattr(replacing, "rename", rename)


@pytest.mark.parametrize("texts", [["theirs"], ["older", "theirs"], ["a", "b", "c", "theirs"]])
def test_the_newest_is_in_place_whenever_it_was_written(desk, monkeypatch, texts):
    path = desk / "hooks.json"
    path.write_text("before")
    write_before_renaming(monkeypatch, path, texts)
    with pytest.raises(Changed):
        put_text(path, "before", "ours")
    assert path.read_text() == "theirs"
    assert [one.name for one in desk.iterdir()] == ["hooks.json"]


def test_a_file_that_came_meanwhile_is_not_overwritten(desk, monkeypatch):
    path = desk / "hooks.json"
    write_before_renaming(monkeypatch, path, ["theirs"])
    with pytest.raises(Changed):
        put_text(path, None, "ours")
    assert path.read_text() == "theirs"


def test_a_file_that_changed_is_not_removed(desk):
    path, link = desk / "a", desk / "link"
    path.write_text("theirs")
    link.symlink_to("a")
    with pytest.raises(Changed):
        remove_file(link, "ours")
    assert (path.read_text(), link.is_symlink()) == ("theirs", True)


def test_without_swapping_a_file_is_replaced_all_the_same(desk, monkeypatch):
    monkeypatch.setattr("agentlas_memory.installer.renaming._native", lambda: None)
    path = desk / "a"
    put_text(path, None, "one")
    put_text(path, "one", "two")
    assert path.read_text() == "two"
    with pytest.raises(Changed):
        put_text(path, None, "three")
    remove_file(path, "two")
    assert list(desk.iterdir()) == []
