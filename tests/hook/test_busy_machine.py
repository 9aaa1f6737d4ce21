"""Many runs, on a machine out of breath: each ends in time, and leaves nothing behind."""

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

import agentlas_memory

FACT = "integer minor units"
COMMAND = ["--host", "claude", "--event", "UserPromptSubmit"]
BURN = "while True: pass"


@pytest.fixture
def burning():
    """Keep every core busy."""
    command = [sys.executable, "-S", "-c", BURN]
    burners = [subprocess.Popen(command) for _ in range(os.cpu_count() or 2)]
    yield
    for burner in burners:
        burner.kill()
        burner.wait()


def drop_from_cache():
    """Have the system forget the files that a run reads, as after a start of the machine."""
    for file in Path(agentlas_memory.__file__).parent.rglob("*"):
        if file.is_file():
            handle = os.open(file, os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="the system forgets no file")
def test_a_cold_start_under_load_ends_within_the_hosts_limits(
    make_project, run_hook, prompt_event, burning
):
    """The shortest limit of a host is 5 seconds; each run must exit with 0 and say nothing else."""
    root, seconds = make_project(), []
    for _ in range(30):
        drop_from_cache()
        began = time.monotonic()
        answer = run_hook(prompt_event(root), logs=None)
        seconds.append(time.monotonic() - began)
        assert answer == b"" or FACT.encode() in answer
    assert statistics.quantiles(seconds, n=20)[18] < 2.0  # p95; 1.5 of them are our own deadline


def left_over(home, tmp):
    """What runs have left: processes of ours, sockets, and files but for the known state."""
    processes = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        ours = entry.name.isdigit() and b"agentlas-memory-hook" in command
        if ours and str(home).encode() in (entry / "environ").read_bytes():
            processes.append(command)
    known = ("state/delivery", "state/last", "state/model.stamp")
    data = home / ".agentlas"
    files = [
        name
        for file in data.rglob("*")
        if not (name := str(file.relative_to(data))).startswith(known)
    ]
    return processes, sorted(files), sorted(file.name for file in tmp.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_two_hundred_runs_some_of_them_killed_leave_nothing(
    make_project, launcher, environment, prompt_event, context, home, tmp_path, ask
):
    root, temporary = make_project(), tmp_path / "tmp"
    temporary.mkdir()
    environment["TMPDIR"] = str(temporary)
    assert FACT in ask(root)
    before = left_over(home, temporary)
    for number in range(200):
        process = subprocess.Popen(
            [launcher, *COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        event = json.dumps(prompt_event(root)).encode()
        if number % 4 == 1:  # killed half way, at another moment each time
            process.stdin.write(event)
            process.stdin.flush()
            time.sleep(number / 200 * 0.06)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            continue
        output, errors = process.communicate(event)
        assert (process.returncode, errors, FACT in context(output)) == (0, b"", True), number
    assert left_over(home, temporary) == before
    assert FACT in ask(root)  # nothing was counted that would silence us


AUDIT = """
def refuse(event, arguments):
    if event in ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec",
                 "os.system", "os.startfile", "socket.__new__", "os.spawn"):
        import os
        os.write(1, b"started " + event.encode())
        os._exit(7)
sys.addaudithook(refuse)
"""


@pytest.mark.parametrize("host", ["claude", "codex", "antigravity", "opencode", "grok", "raw"])
def test_a_run_starts_no_process_and_opens_no_socket(make_project, run_patched, prompt_event, host):
    event = prompt_event(make_project())
    event["workspacePaths"] = [event["cwd"]]
    output = run_patched(AUDIT, event, host, logs=False)
    assert b"started" not in output


DAYS = """
import time
real = time.time
time.time = lambda: real() + {days} * 86400
"""


def test_on_another_day_the_bytes_are_the_same(make_project, run_patched, prompt_event):
    root = make_project()
    today, later = (run_patched(DAYS.format(days=days), prompt_event(root)) for days in (0, 2))
    assert today == later != b""


NAMES = [f"no{number}" for number in range(200)]
WIDE = [chr(0x5000 + 2 * number) + chr(0x5001 + 2 * number) for number in range(200)]
ASKED = "which port do the frobnicators {}, {}, {} and {} listen on?"
ALPHABETS = {
    "plain": (NAMES, "The frobnicator {} listens on port 49222 behind the bastion. ", ASKED),
    "wide": (
        WIDE,
        "冷卻裝置{}監聽埠 49222，在堡壘主機後面，字字字字字字字字。",
        "{}{}{}{}監聽哪個埠？",
    ),
    "escaped": (NAMES, 'The frobnicator {} <b>listens</b> on port & 49222 <a>&<c> "x" ', ASKED),
}


@pytest.mark.parametrize(("names", "sentence", "asked"), ALPHABETS.values(), ids=ALPHABETS)
@pytest.mark.parametrize("host", ["claude", "codex"])
def test_of_two_hundred_long_facts_the_answer_stays_below_the_hosts_limits(
    make_project, run_hook, prompt_event, context, names, sentence, asked, host
):
    """Claude and Codex put a longer text into a file, and show the model its beginning."""
    pages = {f"docs/{n}.md": f"# {n}\n\n" + sentence.format(n) * 18 for n in names}
    event = prompt_event(make_project(pages), asked.format(*names[7:11]))
    text = context(run_hook(event, host))
    assert max(len(text), len(text.encode()), len(text.encode("utf-16-le")) // 2) < 9500
    lines = text.splitlines()
    told = [line for line in lines if line.startswith("project[")]
    assert {line[13:].partition(".md")[0] for line in told} <= set(names[7:11])
    assert (len(told) > 1, lines[-1]) == (True, "</agentlas-memory-context>")
    assert all(line.count("49222") > 1 for line in told)  # whole snippets


def test_where_nothing_matches_no_host_is_told_anything(make_project, run_hook, prompt_event):
    root = make_project()
    for host in ("claude", "codex", "antigravity", "opencode", "grok", "raw"):
        event = prompt_event(root, "thanks", workspacePaths=[str(root)], hookEventName="")
        answer = run_hook(event, host, event_name=EVENTS.get(host, "UserPromptSubmit"))
        assert answer == (b"{}" if host == "antigravity" else b""), host


EVENTS = {"antigravity": "PreInvocation", "opencode": "chat.message"}
