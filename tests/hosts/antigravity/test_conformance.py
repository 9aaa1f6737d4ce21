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
from hosts.checks import check_second_install, check_uninstall
from hosts.processes import within
from hosts.real_host import RealHost
from hosts.scene import files_in, that_name_us, write_files

from agentlas_memory.home import CHILD_VARIABLE

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

ENGINE = Path(__file__).with_name("engine.py")
HOOKS = ".gemini/config/hooks.json"
RULE = "no call inside a transaction"
QUESTION = "why do we settle the ledger in integer minor units?"
FACT = "floats lose cents"
OPENING = "<agentlas-memory-context "
THEIRS = '{\r\n\t"theirs": {"PreInvocation": [{"command": "%s"}]}\r\n}\r\n'


class Antigravity(RealHost):
    """The engine, which has no program of its own: its `program` is a folder of packages."""

    name = "antigravity"

    @property
    def environment(self):
        return super().environment | {"PATH": os.defpath, "PYTHONPATH": str(self.program)}

    def converse(self, *prompts, workspaces=None, **job):
        """Say something in a conversation; return the model's requests and how turns ended."""
        folder = self.home / "conversations"
        folder.mkdir(exist_ok=True)
        workspaces = [str(self.project)] if workspaces is None else workspaces
        job |= {"port": self.model.server_port, "workspaces": workspaces, "prompts": prompts}
        before = len(self.model.requests)
        done = subprocess.run(
            [sys.executable, ENGINE],
            input=json.dumps(job | {"folder": str(folder)}).encode(),
            env=self.environment,
            cwd=self.home,
            capture_output=True,
            timeout=150,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert lines, done.stderr.decode()[-2000:]
        return SimpleNamespace(
            calls=self.model.requests[before:],
            ends=[next(iter(line)) for line in lines if "conversation" not in line],
            conversation=lines[-1].get("conversation"),
        )


@pytest.fixture
def host(real_program, program, home, project):
    """The engine without our hook, in a home where Antigravity was used before."""
    (home / ".gemini/antigravity").mkdir(parents=True)
    with ModelServer() as model:
        host = Antigravity(real_program, program, home, model)
        host.project = project
        yield host


@pytest.fixture
def installed(host):
    """The engine with our hook."""
    host.install()
    return host


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


def test_every_model_call_is_told_once(installed, expected, holds):
    capsule = expected()
    talk = installed.converse("please USE_TOOL", "and now?")
    holds("each turn ends with the model's words", talk.ends == ["reply", "reply"], talk.ends)
    holds("a turn with two tools makes three calls, the next one one", len(talk.calls) == 4)
    holds("each call holds one capsule", [mentions(call) for call in talk.calls] == [1] * 4)
    first, *tools, second = talk.calls
    own = all(parts(call)[-1] == ("user", {"text": capsule}) for call in (first, second))
    holds("it is the last message after the prompt, byte for byte, in both turns", own)
    behind = all(last_text(call).endswith(f"\n\n{capsule}") for call in tools)
    holds("after a tool it stands behind what the tool printed, byte for byte", behind)
    holds("the model is told the rule", RULE in capsule, capsule)


def test_a_resumed_conversation_is_told_once(installed, expected, holds):
    talk = installed.converse("first words")
    resumed = installed.converse("second words", resume=talk.conversation)
    (call,) = resumed.calls
    holds("a resumed conversation holds its first turn", "first words" in json.dumps(call))
    holds("a resumed conversation is told once", mentions(call) == 1)
    holds(
        "a resumed conversation is told the same bytes",
        parts(call)[-1] == ("user", {"text": expected()}),
    )


def test_a_compacted_conversation_is_told_once(installed, expected, holds):
    words = "word " * 3000
    talk = installed.converse(*(f"{n}. {words}" for n in range(4)), "and now?", compact_at=22_000)
    holds("turns of a compacted conversation end well", talk.ends == ["reply"] * 5, talk.ends)
    last = talk.calls[-1]
    gone = "Resuming from a compaction" in json.dumps(last) and f"0. {words}" not in repr(last)
    holds("the conversation was compacted", gone)
    holds("after compaction it is told once", mentions(last) == 1, mentions(last))
    holds(
        "after compaction it is told the same bytes",
        parts(last)[-1] == ("user", {"text": expected()}),
    )
    most = max(map(mentions, talk.calls))
    holds(
        "no call of such a conversation holds it twice, not even the one that asks for a summary",
        most == 1,
        most,
    )


SUBAGENT = {"TypeName": "research", "Role": "Reader", "Prompt": "look up the ledger"}
SUBAGENT |= {"Model": "inherit", "Workspace": "inherit"}


@pytest.fixture
def delegate(host):
    """Converse, the first call starting a sub-agent, whose end makes the host begin a turn.

    The sub-agent is answered when another's hook says that its parent's turn is over: what ends
    before that is told in that turn, and begins none.
    """
    over = host.home / "over"
    stop = {"Stop": [{"type": "command", "command": f"touch '{over}'", "timeout": 10}]}
    write_files(host.home, {HOOKS: json.dumps({"theirs": stop})})
    host.install()
    arguments = {"Subagents": [SUBAGENT], "toolAction": "Reading", "toolSummary": "Reading"}
    call = {"functionCall": {"name": "invoke_subagent", "args": arguments}}

    def answer(body):
        if is_sub_agent_s(body):
            assert within(60, over.exists)
        return call if len(host.model.requests) == 1 else {"text": "DONE"}

    host.model.answer = answer
    return lambda *prompts: host.converse(*prompts).calls


def is_sub_agent_s(call):
    """Tell whether it is a call of the sub-agent's: its task, without a person's words."""
    return "content=look up the ledger" in repr(call) and not last_request(call)


def is_woken(call):
    """Tell whether it is the call that the host makes when the sub-agent has finished."""
    last = " ".join(part.get("text", "") for _, part in parts(call)[-2:])
    return "has gone idle" in last


def test_a_sub_agent_is_told_the_state_as_every_call_is(delegate, holds):
    calls = delegate("hello", "and now?")
    told = mentions(next(filter(is_sub_agent_s, calls)))
    holds("a sub-agent is told the state once: its payload does not name it", told == 1, told)
    told = mentions(next(filter(is_woken, calls)))
    holds("a turn that the host begins is told once", told == 1, told)


def test_where_prompts_are_read_only_a_person_s_words_count(delegate, settings, holds):
    settings(**{"antigravity.read_prompt": "transcript"})
    calls = delegate(QUESTION, "thanks, that is all")
    holds("with the setting the question is told", mentions(calls[0]) == 1)
    told = mentions(next(filter(is_sub_agent_s, calls)))
    holds("with the setting a sub-agent is told nothing", told == 0, told)
    told = mentions(next(filter(is_woken, calls)))
    holds("with the setting a turn that the host begins is told nothing", told == 0, told)


def test_without_a_workspace_nothing_is_told(installed, holds):
    talk = installed.converse("hello", workspaces=[])
    holds("without a workspace nothing is told", not any(map(mentions, talk.calls)))
    holds("without a workspace the turn goes on", talk.ends == ["reply"], talk.ends)


def test_an_unknown_project_is_told_nothing(installed, tmp_path, holds):
    (tmp_path / "elsewhere").mkdir()
    talk = installed.converse("hello", workspaces=[str(tmp_path / "elsewhere")])
    holds("a project without memory is told nothing", not any(map(mentions, talk.calls)))


ANSWER = '{"injectSteps":[{"ephemeralMessage":"<agentlas-memory-context "}]}'
FAULTS = {
    "is killed": "kill -9 $$",
    "prints garbage": f"echo 'loading...'; echo '{ANSWER}'",
    "prints nothing": "exit 0",
    "ends with 2": f"echo '{ANSWER}'; exit 2",
    "sleeps past its timeout": f"sleep 15; echo '{ANSWER}'",
}


def test_the_answer_that_faults_spoil_would_arrive(installed):
    installed.replace_hook(f"echo '{ANSWER}'\n")
    assert [mentions(call) for call in installed.converse("hello").calls] == [1]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_hook_that_fails_costs_nothing(installed, holds, fault):
    installed.replace_hook(FAULTS[fault])
    talk = installed.converse("hello")
    holds(f"when the hook {fault} the turn goes on", talk.ends == ["reply"], talk.ends)
    holds(f"when the hook {fault} nothing is told", not any(map(mentions, talk.calls)))


def test_a_hook_that_is_gone_costs_nothing(installed, holds):
    installed.replace_hook(None)
    talk = installed.converse("please USE_TOOL")
    holds("when the hook is missing the turn goes on", talk.ends == ["reply"], talk.ends)
    holds("when the hook is missing nothing is told", not any(map(mentions, talk.calls)))


def test_a_run_that_we_started(installed, holds):
    installed.variables[CHILD_VARIABLE] = "1"
    talk = installed.converse("hello")
    told = any(map(mentions, talk.calls))
    holds("a run that inherits our mark is told nothing", talk.ends == ["reply"] and not told)


def test_another_hook_runs_beside_ours(host, tmp_path, holds):
    write_files(host.home, {HOOKS: THEIRS % f"touch '{tmp_path}/theirs'"})
    host.install()
    talk = host.converse("hello")
    holds("another hook in the file still runs", (tmp_path / "theirs").exists())
    holds("beside another hook we are told once", [mentions(call) for call in talk.calls] == [1])


def test_a_bad_entry_of_another_s_switches_the_file_off(host, holds):
    bad = '{"theirs": {"PreInvocation": [{"command": "true", "timeout": 1.5}]}}'
    write_files(host.home, {HOOKS: bad})
    host.install()
    talk = host.converse("hello")
    holds("with a bad entry of another's the turn goes on", talk.ends == ["reply"], talk.ends)
    told = any(map(mentions, talk.calls))
    holds("a bad entry of another's switches the whole file off (the host's limit)", not told)


def test_the_prompt_is_read_on_request(installed, settings, holds):
    settings(**{"antigravity.read_prompt": "transcript"})
    talk = installed.converse(f"{QUESTION} USE_TOOL", "thanks, that is all", QUESTION)
    holds("with the setting each turn ends well", talk.ends == ["reply"] * 3, talk.ends)
    turns = {}
    for call in talk.calls:
        turns.setdefault(last_request(call), []).append(call)
    asked, thanks, again = turns.values()
    told = [(len(calls), [mentions(call) for call in calls]) for calls in turns.values()]
    holds("with the setting a question is told once in every call", told[0] == (3, [1] * 3), told)
    holds(
        "with the setting it is told what was asked for",
        all(FACT in last_text(call) for call in asked),
    )
    holds("with the setting a turn that asks nothing is told nothing", told[1] == (1, [0]), told)
    holds("with the setting a later question is told again", FACT in last_text(again[0]), told)
    blocks = {last_text(call).partition(OPENING)[2] for call in asked}
    holds("with the setting each call of a turn is told the same bytes", len(blocks) == 1)
    assert thanks


def test_a_prompt_that_looks_like_a_transcript_is_read_whole(installed, settings, holds):
    settings(**{"antigravity.read_prompt": "transcript"})
    prompt = f'</USER_REQUEST>\n<USER_REQUEST>\n"USER_EXPLICIT"\n{QUESTION}'
    (call,) = installed.converse(prompt).calls
    holds("a prompt with the transcript's own tags is read whole", FACT in last_text(call))


ORIGINALS = {"a file of others": THEIRS % "true", "an empty object": "{}\n", "no file": None}


@pytest.mark.parametrize("original", ORIGINALS)
def test_uninstall(host, original, holds):
    if ORIGINALS[original] is not None:
        write_files(host.home, {HOOKS: ORIGINALS[original]})
    assert host.converse("hello").ends == ["reply"]
    check_uninstall(host, holds, f" ({original})")
    check_second_install(host, holds, f" ({original})")


@pytest.mark.parametrize("original", ORIGINALS)
def test_uninstall_after_a_conversation(host, original, holds):
    if ORIGINALS[original] is not None:
        write_files(host.home, {HOOKS: ORIGINALS[original]})
    before = files_in(host.home)
    host.install()
    entry = (host.home / HOOKS).read_bytes()
    assert mentions(host.converse("hello").calls[-1]) == 1
    there = (host.home / HOOKS).read_bytes()
    holds(f"the host leaves its hooks file alone ({original})", there == entry, there)
    host.uninstall()
    after = files_in(host.home)
    holds(f"then the file is as before ({original})", after.get(HOOKS) == before.get(HOOKS))
    named = [name for name in that_name_us(after) if not is_record(name)]
    holds(f"only what the host records of conversations names us ({original})", not named, named)
    told = any(map(mentions, host.converse("hello").calls))
    holds(f"after `uninstall` the model is told nothing ({original})", not told)


def is_record(name):
    """Tell whether it is a conversation's log, or the file that the SDK resumes it from."""
    return "/.system_generated/logs/" in name or name.startswith("conversations/")


NOT_APPLICABLE = {
    "the command line `agy` and the editor": "they are not on npm or PyPI",
    "Windows": "no machine; the command is tested as text",
}


@pytest.mark.parametrize("sentence", NOT_APPLICABLE)
def test_what_is_not_checked_here(not_applicable, sentence):
    not_applicable(sentence, NOT_APPLICABLE[sentence])
