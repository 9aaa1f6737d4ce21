"""Two hundred runs in a row, many killed half way: nothing of them is left, nothing is blocked."""

import json
import random
import subprocess
import time
from pathlib import Path

import pytest
from hosts.processes import within

RUNS = 200
LONGEST = 0.08  # seconds until a run is killed: an undisturbed one takes about as long


@pytest.fixture
def start(launcher, environment, prompt_event, make_project, tmp_path):
    """Start a hook, in a shell that waits for it as hosts' shells do."""
    event, temporary = tmp_path / "event", tmp_path / "temporary"
    event.write_text(json.dumps(prompt_event(make_project())))
    temporary.mkdir()
    values = environment | {"TMPDIR": str(temporary)}
    shell = f"'{launcher}' --host raw --event UserPromptSubmit <'{event}'; exit $?"
    return lambda: subprocess.Popen(["sh", "-c", shell], env=values, stdout=-1, stderr=-3)


def children(pid):
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def processes_of(home):
    """Return the processes that run in a home."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"HOME={home}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(folder.name)
        except OSError:
            continue
    return found


def names_below(*folders):
    return sorted(str(path) for folder in folders for path in folder.rglob("*"))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes in /proc")
def test_killed_runs_leave_nothing_behind(start, home, data, tmp_path):
    capsule, _ = start().communicate()
    assert b"integer minor units" in capsule
    places = (data, tmp_path / "temporary", tmp_path / "project")
    before = names_below(*places)
    chance = random.Random(91)
    for number in range(RUNS):
        with start() as process:
            if number % 2:
                time.sleep(chance.uniform(0, LONGEST))
                if number % 4 == 1:  # the shell alone: the hook has lost who started it
                    process.kill()
                else:
                    subprocess.run(["kill", "-9", *map(str, children(process.pid))], stderr=-3)
            else:
                assert process.communicate()[0] == capsule
    assert within(10, lambda: not processes_of(home))
    assert names_below(*places) == before
    assert start().communicate()[0] == capsule
