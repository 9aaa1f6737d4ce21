"""What a run leaves behind, and what it does not."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

FACT = "integer minor units"
PRIVATE = "why do we settle the ledger in integer minor units for Zanzibar?"


@pytest.fixture
def project(make_project):
    return make_project()


def test_nothing_is_written_in_the_project(project, ask, start, listing):
    before = listing(project)
    assert FACT in ask(project)
    ask(project, "thanks")
    start(project, "compact")
    assert listing(project) == before


def test_nothing_but_our_folder_appears_in_the_home(project, ask, start, home, data):
    ask(project)
    start(project, "compact")
    assert [path.name for path in home.iterdir()] == [".agentlas"]
    names = {path.name.partition("-")[0] for path in (data / "state").iterdir()}
    assert names <= {"last", "delivery", "model"}


def test_what_is_written_is_the_users_alone(project, launcher, run_hook, prompt_event, data):
    shutil.rmtree(data / "state", ignore_errors=True)
    open_handed = ["sh", "-c", 'umask 0; exec "$0" "$@"', launcher]
    assert run_hook(prompt_event(project), program=open_handed) != b""
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (data / "state").rglob("*")}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}


def test_no_write_reaches_the_project(project, launcher, environment, prompt_event, tmp_path):
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    log = tmp_path / "strace.log"
    trace = ["strace", "-f", "-o", log, "-e", "trace=file,network", launcher, "--host", "claude"]
    done = subprocess.run(
        trace,
        input=json.dumps(prompt_event(project)).encode(),
        env=environment,
        capture_output=True,
    )
    if b"ptrace" in done.stderr or not log.exists():
        pytest.skip("this machine does not let strace look")
    assert FACT.encode() in done.stdout
    calls = log.read_text()
    writing = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|unlink|rename|mkdir|utime|chmod|symlink")
    assert not [
        line for line in calls.splitlines() if str(project) in line and writing.search(line)
    ]
    assert not re.search(r"\b(socket|connect)\(", calls)


def test_two_runs_give_the_same_bytes(project, run_hook, prompt_event):
    events = [prompt_event(project), prompt_event(project)]
    first, second = map(run_hook, events)
    assert first == second != b""


def other_python(version):
    """Return an interpreter of another version, beside the running one or on the path."""
    beside = Path(os.path.realpath(sys.executable)).parents[2].glob(f"{version}.*/bin/python3")
    for python in [*beside, shutil.which(f"python{version}")]:
        probe = "import _sqlite3, sys; print('%d.%d' % sys.version_info[:2])"
        done = python and subprocess.run([python, "-c", probe], capture_output=True, text=True)
        if done and done.stdout.strip() == version:
            return str(python)
    return pytest.skip(f"there is no Python {version} here")


@pytest.mark.parametrize("version", ["3.10", "3.12", "3.13"])
def test_other_pythons_give_the_same_bytes(project, run_hook, prompt_event, version):
    """Without simsimd, which is built for one version, on both sides."""
    packages = Path(sys.prefix, "lib/python{}.{}/site-packages".format(*sys.version_info))
    code = (
        f"import sys; sys.path.append({str(packages)!r}); sys.modules['simsimd'] = None\n"
        "sys.dont_write_bytecode = True\n"
        "from agentlas_memory.hook import main; main()"
    )
    ours, others = (
        run_hook(prompt_event(project), program=[python, "-I", "-S", "-c", code])
        for python in (sys.executable, other_python(version))
    )
    assert ours == others != b""


def test_a_receipt_holds_nothing_of_what_was_asked_or_found(make_project, ask, data):
    root = make_project(name="zeppelin")
    assert FACT in ask(root, PRIVATE)
    (file,) = (data / "state/last").iterdir()
    text = file.read_text().lower()
    words = ("zanzibar", "ledger", "minor", "floats", "docs", ".md", "session", "zeppelin", "/")
    assert not [word for word in words if word in text]


def test_a_receipt_says_how_the_hits_came_about(project, ask, receipt):
    ask(project)
    found = receipt()
    assert (found["host"], found["event"], found["silence_reason"]) == (
        "claude",
        "UserPromptSubmit",
        "",
    )
    assert found["retrieval"] == "hybrid"
    (candidate,) = found["candidates"]
    assert (candidate["lexical_rank"], candidate["gate"]) == (1, "")
    assert candidate["margin"] > 0 and candidate["cosine"] > 0.3
    assert set(found["stages"]) >= {"project", "open", "lexical", "dense", "judge", "deliver"}


def test_there_is_one_receipt_a_store(project, make_project, ask, data):
    other = make_project(name="other")
    for root in (project, other, project):
        ask(root)
    assert len(list((data / "state/last").iterdir())) == 2


REASONS = {
    "no_prompt": {"prompt": "  "},
    "no_terms": {"prompt": "and what about it?"},
    "gated": {"prompt": "how is sourdough bread baked at home?"},
    "subagent": {"agent_id": "a1"},
    "delivered": {"session_id": "told before"},
}


@pytest.mark.parametrize("reason", REASONS)
def test_each_silence_has_its_reason(project, ask, receipt, reason):
    ask(project, session_id="told before")
    assert receipt()["silence_reason"] == ""
    assert ask(project, **REASONS[reason]) == ""
    assert receipt()["silence_reason"] == reason


def test_nothing_visible_is_said_where_nothing_matches(project, run_hook, prompt_event):
    for prompt in ("thanks", "run the tests", "commit this", "continue", "what is 2+2"):
        for host in ("claude", "raw"):
            assert run_hook(prompt_event(project, prompt), host) == b""


def test_a_failure_leaves_a_line_without_what_was_asked(project, run_patched, prompt_event, data):
    statement = (
        "import agentlas_memory.recall.lexical as m\n"
        "def fail(store, terms, *a): raise KeyError(' '.join(terms))\n"
        "m.search_lexical = fail"
    )
    run_patched(statement, prompt_event(project, PRIVATE), logs=True)
    (line,) = (data / "state/hook.log").read_text().splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ claude KeyError at <string>:\d+", line)


@pytest.mark.parametrize("kind", ["mkdir", "mkfifo", "symlink"])
def test_a_log_that_cannot_be_written_is_no_failure(project, ask, data, kind, tmp_path):
    (data / "state").mkdir(exist_ok=True)
    log = data / "state/hook.log"
    {
        "mkdir": os.mkdir,
        "mkfifo": os.mkfifo,
        "symlink": lambda p: p.symlink_to(tmp_path / "victim"),
    }[kind](log)
    (project / ".agentlas/ontology-runtime.sqlite").write_text("x")
    assert ask(project, logs=None) == ""
    assert not (tmp_path / "victim").exists()
