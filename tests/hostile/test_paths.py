"""Where a crafted store's paths lead: nowhere but to files of the project."""

import os
import shutil
import subprocess

import pytest

FACT = "integer minor units"
OUTSIDE = {
    "above": "../elsewhere/ledger.md",
    "above and back": "docs/../../elsewhere/ledger.md",
    "from the root": "{elsewhere}/ledger.md",
    "twice from the root": "/{elsewhere}/ledger.md",
    "of the notes": ".agentlas/../../elsewhere/ledger.md",
    "of the notes from the root": ".agentlas//{elsewhere}/ledger.md",
    "through a linked folder": "linked/ledger.md",
    "through a link": "docs/link.md",
    "through a linked note": ".agentlas/linked/ledger.md",
    "a link to a device": "docs/device",
    "a folder": "docs",
    "the project": "",
    "here": ".",
    "a slash": "/",
    "a NUL": "docs/ledger.md\0../elsewhere/ledger.md",
    "another slash": "docs\\..\\..\\elsewhere\\ledger.md",
    "endless": "docs/" * 5000 + "ledger.md",
    "a long name": "x" * 5000,
    "a FIFO": "docs/fifo",
}


@pytest.fixture
def outside(scene):
    """Put the document outside the project, and links to it inside."""
    document = scene.elsewhere / "ledger.md"
    shutil.copy2(scene.project / "docs/ledger.md", document)
    for folder in (scene.project, scene.project / ".agentlas"):
        (folder / "linked").symlink_to(scene.elsewhere)
    (scene.project / "docs/link.md").symlink_to(document)
    (scene.project / "docs/device").symlink_to("/dev/zero")
    os.mkfifo(scene.project / "docs/fifo")
    return document


def path_of(name, scene):
    return OUTSIDE[name].format(elsewhere=scene.elsewhere)


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_lies_outside_is_no_source(scene, survive, forge, outside, name):
    path = path_of(name, scene)
    forge("sources", "path", path, "docs/ledger.md")
    assert FACT not in survive()[0]


def test_the_same_store_with_the_right_path_answers(scene, survive, forge, outside):
    shutil.copy2(outside, scene.project / "docs/other.md")
    forge("sources", "path", "docs/other.md", "docs/ledger.md")
    assert FACT in survive()[0]


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_outside_is_looked_at(scene, forge, hooks, outside, tmp_path, name):
    """By what the system was asked; the hook itself looks at folders above the project only."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    forge("sources", "path", path_of(name, scene), "docs/ledger.md")
    trace = tmp_path / "trace"
    strace = ("-f", "-y", "-e", "trace=%file,read,mmap", "-s", "9999", "-o", str(trace))
    hooks.run(scene, scene.event(), before=(shutil.which("strace"), *strace))
    calls = trace.read_text(errors="replace")
    assert "docs/adr" in calls or "ontology-runtime" in calls  # a trace there is
    for place in ("elsewhere/ledger.md", "/dev/zero", f'<{scene.elsewhere}>, "ledger'):
        assert place not in calls


SWAPS = {
    "the store for a FIFO": ("store.check_journals", "os.unlink(p); os.mkfifo(p)"),
    "the journal for a FIFO": ("store.check_journals", "os.mkfifo(p + '-journal')"),
    "the store for a link": (
        "store.check_journals",
        "os.rename(p, p + '2'); os.symlink(p + '2', p)",
    ),
    "the store for another": ("store.check_journals", "os.truncate(p, 0)"),
    "the store for a folder": ("store.check_journals", "os.unlink(p); os.mkdir(p)"),
    "the store for nothing": ("store.check_journals", "os.unlink(p)"),
    "the vectors for a FIFO": ("sidecar.sidecar_path", "os.unlink(p); os.mkfifo(p)"),
}


@pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS)
def test_a_file_that_is_swapped_between_two_looks_does_no_harm(scene, hooks, swap):
    """The hook ends in time even in a call of SQLite's that never comes back."""
    place, change = swap
    module, _, function = place.partition(".")
    code = (
        f"import os; from agentlas_memory.ontology import {module} as m; old = m.{function}\n"
        f"def swap(*a):\n p = old(*a) or a[0]\n {change}\n return p\n"
        f"m.{function} = swap"
    )
    done = hooks.run_patched(scene, code)
    assert done.faults() == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["store", "sidecar", "source"])
def test_files_that_come_and_go_do_no_harm(scene, hooks, kind, nightly):
    """Another process puts links, FIFOs and folders in a file's place, again and again."""
    file = {"source": scene.project / "docs/ledger.md"}.get(kind) or getattr(scene, kind)
    code = (
        "import itertools, os, shutil, sys\n"
        "p, copy = sys.argv[1], sys.argv[2]\n"
        "def put(make):\n"
        "    os.rename(p, p + '.old') if os.path.lexists(p) else None\n"
        "    make()\n"
        "    q = p + '.old'\n"
        "    os.rmdir(q) if os.path.isdir(q) and not os.path.islink(q) else os.unlink(q)\n"
        "makes = [lambda: os.mkfifo(p), lambda: os.symlink('/dev/zero', p), lambda: os.mkdir(p),"
        " lambda: shutil.copy2(copy, p)]\n"
        "for make in itertools.cycle(makes):\n"
        "    put(make)\n"
    )
    copy = scene.elsewhere / "copy"
    shutil.copy2(file, copy)
    swapper = subprocess.Popen([os.sys.executable, "-c", code, file, copy])
    try:
        for _ in range(200 if nightly else 15):
            assert hooks.run(scene, scene.event()).faults() == []
    finally:
        swapper.kill()
        swapper.wait()
        copy.unlink()
