"""The real engine, our entry in its hooks file, and what arrives at the model.

The engine is the one in google-antigravity. `agy` and the editor have the same hook code, but are
not on npm or PyPI: they are not run here.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hosts.antigravity.model_server import ModelServer, last_request, parts
from hosts.fetch import Unavailable, pypi_package

from agentlas_memory.host_adapters.antigravity.install_spec import SPEC
from agentlas_memory.installer.formats.json_entry import put_entry, remove_entry
from agentlas_memory.installer.surfaces import Place

pytestmark = pytest.mark.conformance

VERSION = SPEC.verified
ENGINE = Path(__file__).with_name("engine.py")
RULE = "no call inside a transaction"
QUESTION = "why do we settle the ledger in integer minor units?"
FACT = "floats lose cents"
OPENING = "<agentlas-memory-context "
THEIRS = '{\r\n\t"theirs": {"PreInvocation": [{"command": "%s"}]}\r\n}\r\n'
NOT_RUN = {
    "the command line `agy` and the editor": "they are not on npm or PyPI",
    "Windows": "no machine; the command is tested as text",
}


@pytest.fixture(scope="session")
def packages():
    try:
        return pypi_package("google-antigravity", VERSION)
    except Unavailable as reason:
        pytest.skip(f"Antigravity's engine {VERSION}: {reason}")


@pytest.fixture
def model():
    with ModelServer() as server:
        yield server


@pytest.fixture
def hold(check):
    """Record a check of this host."""
    return lambda sentence, holds, detail="": check("antigravity", VERSION, sentence, holds, detail)


@pytest.fixture
def hooks_file(home):
    (surface,) = SPEC.surfaces(Place(home, home / ".agentlas", {}))
    return surface.path


@pytest.fixture
def install(home, launcher, hooks_file):
    """Put the hook and our entry in their places; `program` stands in for the hook."""
    (surface,) = SPEC.surfaces(Place(home, home / ".agentlas", {}))
    hook = home / ".agentlas/runtime/current/bin/agentlas-memory-hook"

    def run(program=None):
        hook.parent.mkdir(parents=True, exist_ok=True)
        if program is None:
            hook.symlink_to(launcher)
        else:
            hook.write_text(program)
            hook.chmod(0o755)
        hooks_file.parent.mkdir(parents=True, exist_ok=True)
        text = read(hooks_file) if hooks_file.exists() else ""
        write(hooks_file, put_entry(text, surface.key, surface.value))
        return hook

    return run


def read(path):
    return path.read_bytes().decode("utf-8")


def write(path, text):
    path.write_bytes(text.encode("utf-8"))


@pytest.fixture
def converse(packages, model, home, project):
    """Say something in a conversation; return the model's requests and how each turn ended."""

    def run(*prompts, workspaces=None, **job):
        folder = home / "conversations"
        folder.mkdir(exist_ok=True)
        workspaces = [str(project)] if workspaces is None else workspaces
        job |= {"port": model.port, "workspaces": workspaces, "prompts": prompts}
        before = len(model.calls)
        done = subprocess.run(
            [sys.executable, str(ENGINE)],
            input=json.dumps(job | {"folder": str(folder)}).encode(),
            env=engine_environment(home, packages),
            cwd=home,
            capture_output=True,
            timeout=150,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert lines, done.stderr.decode()[-2000:]
        return SimpleNamespace(
            calls=model.calls[before:],
            ends=[next(iter(line)) for line in lines if "conversation" not in line],
            conversation=lines[-1].get("conversation"),
        )

    return run


def engine_environment(home, packages):
    """Nothing of the developer's, and no way out but to this machine."""
    nowhere = "http://127.0.0.1:9"
    return {
        "HOME": str(home),
        "PATH": os.defpath,
        "PYTHONPATH": str(packages),
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
        "NO_PROXY": "127.0.0.1,localhost",
    }


@pytest.fixture
def expected(run_hook, payload, project, message):
    """What the hook says of the project when it is called by hand."""

    def ask(**fields):
        event = payload(workspacePaths=[str(project)]) | fields
        return message(run_hook(event, "antigravity", event_name="PreInvocation"))

    return ask


def mentions(call):
    """Return how often a request holds a capsule, wherever it stands."""
    return json.dumps(call, ensure_ascii=False).count(OPENING)


def last_text(call):
    """Return the last part of a request: its text, or what a tool printed."""
    _, part = parts(call)[-1]
    return part.get("text") or part["functionResponse"]["response"]["output"]


def test_every_model_call_is_told_once(install, converse, expected, hold):
    install()
    capsule = expected()
    talk = converse("please USE_TOOL", "and now?")
    hold("each turn ends with the model's words", talk.ends == ["reply", "reply"], talk.ends)
    hold("a turn with two tools makes three calls, the next one one", len(talk.calls) == 4)
    hold("each call holds one capsule", [mentions(call) for call in talk.calls] == [1] * 4)
    first, *tools, second = talk.calls
    own = all(parts(call)[-1] == ("user", {"text": capsule}) for call in (first, second))
    hold("it is the last message after the prompt, byte for byte, in both turns", own)
    behind = all(last_text(call).endswith(f"\n\n{capsule}") for call in tools)
    hold("after a tool it stands behind what the tool printed, byte for byte", behind)
    hold("the model is told the rule", RULE in capsule, capsule)


def test_a_resumed_conversation_is_told_once(install, converse, expected, hold):
    install()
    talk = converse("first words")
    resumed = converse("second words", resume=talk.conversation)
    (call,) = resumed.calls
    hold("a resumed conversation holds its first turn", "first words" in json.dumps(call))
    hold("a resumed conversation is told once", mentions(call) == 1)
    hold(
        "a resumed conversation is told the same bytes",
        parts(call)[-1] == ("user", {"text": expected()}),
    )


def test_a_compacted_conversation_is_told_once(install, converse, expected, hold):
    install()
    words = "word " * 3000
    talk = converse(*(f"{n}. {words}" for n in range(4)), "and now?", compact_at=22_000)
    hold("turns of a compacted conversation end well", talk.ends == ["reply"] * 5, talk.ends)
    last = talk.calls[-1]
    gone = "Resuming from a compaction" in json.dumps(last) and f"0. {words}" not in repr(last)
    hold("the conversation was compacted", gone)
    hold("after compaction it is told once", mentions(last) == 1, mentions(last))
    hold(
        "after compaction it is told the same bytes",
        parts(last)[-1] == ("user", {"text": expected()}),
    )
    most = max(map(mentions, talk.calls))
    hold(
        "no call of such a conversation holds it twice, not even the one that asks for a summary",
        most == 1,
        most,
    )


SUBAGENT = {"TypeName": "research", "Role": "Reader", "Prompt": "look up the ledger"}
SUBAGENT |= {"Model": "inherit", "Workspace": "inherit"}


@pytest.fixture
def delegating(model):
    """Have the first call of a conversation start a sub-agent, whose end wakes the model again."""
    arguments = {"Subagents": [SUBAGENT], "toolAction": "Reading", "toolSummary": "Reading"}
    call = {"functionCall": {"name": "invoke_subagent", "args": arguments}}
    model.answer = lambda body: call if len(model.calls) == 1 else {"text": "DONE"}


def sub_agent_s(calls):
    """Return the first call of the sub-agent: its task, without a person's words."""
    task = "content=look up the ledger"
    return next(call for call in calls if task in repr(call) and not last_request(call))


def woken(calls):
    """Return the call that the host makes when the sub-agent has finished."""
    return next(call for call in calls if "has gone idle" in last_text_of(call))


def last_text_of(call):
    return " ".join(part.get("text", "") for _, part in parts(call)[-2:])


def test_a_sub_agent_is_told_the_state_as_every_call_is(install, converse, delegating, hold):
    install()
    calls = converse("hello", "and now?").calls
    told = mentions(sub_agent_s(calls))
    hold("a sub-agent is told the state once: its payload does not name it", told == 1, told)
    hold("a turn that the host begins is told once", mentions(woken(calls)) == 1)


def test_where_prompts_are_read_only_a_person_s_words_count(
    install, converse, delegating, settings, hold
):
    settings(**{"antigravity.read_prompt": "transcript"})
    install()
    calls = converse(QUESTION, "thanks, that is all").calls
    hold("with the setting the question is told", mentions(calls[0]) == 1)
    hold("with the setting a sub-agent is told nothing", mentions(sub_agent_s(calls)) == 0)
    hold("with the setting a turn that the host begins is told nothing", not mentions(woken(calls)))


def test_without_a_workspace_nothing_is_told(install, converse, hold):
    install()
    talk = converse("hello", workspaces=[])
    hold("without a workspace nothing is told", not any(map(mentions, talk.calls)))
    hold("without a workspace the turn goes on", talk.ends == ["reply"], talk.ends)


def test_an_unknown_project_is_told_nothing(install, converse, tmp_path, hold):
    install()
    (tmp_path / "elsewhere").mkdir()
    talk = converse("hello", workspaces=[str(tmp_path / "elsewhere")])
    hold("a project without memory is told nothing", not any(map(mentions, talk.calls)))


ANSWER = '{"injectSteps":[{"ephemeralMessage":"<agentlas-memory-context "}]}'
FAULTS = {
    "is killed": "kill -9 $$",
    "prints garbage": f"echo 'loading...'; echo '{ANSWER}'",
    "prints nothing": "exit 0",
    "ends with 2": f"echo '{ANSWER}'; exit 2",
    "sleeps past its timeout": f"sleep 15; echo '{ANSWER}'",
}


def test_the_answer_that_faults_spoil_would_arrive(install, converse):
    install(f"#!/bin/sh\necho '{ANSWER}'\n")
    assert [mentions(call) for call in converse("hello").calls] == [1]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_hook_that_fails_costs_nothing(install, converse, hold, fault):
    install(f"#!/bin/sh\n{FAULTS[fault]}\n")
    talk = converse("hello")
    hold(f"when the hook {fault} the turn goes on", talk.ends == ["reply"], talk.ends)
    hold(f"when the hook {fault} nothing is told", not any(map(mentions, talk.calls)))


def test_a_hook_that_is_gone_costs_nothing(install, converse, hold):
    install().unlink()
    talk = converse("please USE_TOOL")
    hold("when the hook is missing the turn goes on", talk.ends == ["reply"], talk.ends)
    hold("when the hook is missing nothing is told", not any(map(mentions, talk.calls)))


def test_another_hook_runs_beside_ours(install, converse, hooks_file, tmp_path, hold):
    hooks_file.parent.mkdir(parents=True)
    write(hooks_file, THEIRS % f"touch {tmp_path}/theirs")
    install()
    talk = converse("hello")
    hold("another hook in the file still runs", (tmp_path / "theirs").exists())
    hold("beside another hook we are told once", [mentions(call) for call in talk.calls] == [1])


def test_a_bad_entry_of_another_s_switches_the_file_off(install, converse, hooks_file, hold):
    hooks_file.parent.mkdir(parents=True)
    write(hooks_file, '{"theirs": {"PreInvocation": [{"command": "true", "timeout": 1.5}]}}')
    install()
    talk = converse("hello")
    hold("with a bad entry of another's the turn goes on", talk.ends == ["reply"], talk.ends)
    told = any(map(mentions, talk.calls))
    hold("a bad entry of another's switches the whole file off (the host's limit)", not told)


def test_the_prompt_is_read_on_request(install, converse, settings, hold):
    settings(**{"antigravity.read_prompt": "transcript"})
    install()
    talk = converse(f"{QUESTION} USE_TOOL", "thanks, that is all", QUESTION)
    hold("with the setting each turn ends well", talk.ends == ["reply"] * 3, talk.ends)
    turns = {}
    for call in talk.calls:
        turns.setdefault(last_request(call), []).append(call)
    asked, thanks, again = turns.values()
    told = [(len(calls), [mentions(call) for call in calls]) for calls in turns.values()]
    hold("with the setting a question is told once in every call", told[0] == (3, [1] * 3), told)
    hold(
        "with the setting it is told what was asked for",
        all(FACT in last_text(call) for call in asked),
    )
    hold("with the setting a turn that asks nothing is told nothing", told[1] == (1, [0]), told)
    hold("with the setting a later question is told again", FACT in last_text(again[0]), told)
    blocks = {last_text(call).partition(OPENING)[2] for call in asked}
    hold("with the setting each call of a turn is told the same bytes", len(blocks) == 1)
    assert thanks


def test_a_prompt_that_looks_like_a_transcript_is_read_whole(install, converse, settings, hold):
    settings(**{"antigravity.read_prompt": "transcript"})
    install()
    prompt = f'</USER_REQUEST>\n<USER_REQUEST>\n"USER_EXPLICIT"\n{QUESTION}'
    (call,) = converse(prompt).calls
    hold("a prompt with the transcript's own tags is read whole", FACT in last_text(call))


ORIGINALS = {"a file of others": THEIRS % "true", "an empty object": "{}\n", "no file": None}


@pytest.mark.parametrize("original", ORIGINALS)
def test_nothing_of_ours_stays(install, converse, home, hooks_file, original, hold):
    (home / ".gemini").mkdir()
    if ORIGINALS[original] is not None:
        hooks_file.parent.mkdir()
        write(hooks_file, ORIGINALS[original])
    install()
    installed = read(hooks_file)
    assert converse("hello").ends == ["reply"]
    hold(f"the host leaves its hooks file alone ({original})", read(hooks_file) == installed)
    text = remove_entry(read(hooks_file), "agentlas-memory")
    hold(f"uninstall gives the bytes there were ({original})", text == (ORIGINALS[original] or ""))
    write(hooks_file, text)
    named = [path for path in files_of(home / ".gemini") if b"agentlas" in path.read_bytes()]
    logs = all("/.system_generated/logs/" in str(path) for path in named)
    hold(f"then only the host's own record names us ({original})", logs, named)


def files_of(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("sentence", NOT_RUN)
def test_what_cannot_be_run_is_listed(hold, sentence):
    hold(sentence, "n/a", NOT_RUN[sentence])
