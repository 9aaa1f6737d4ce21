"""Antigravity's event becomes a question, and the answer is one JSON object whatever happens."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_imports import ALLOWED

from agentlas_memory.events import PROMPT, START
from agentlas_memory.host_adapters.antigravity import adapter
from agentlas_memory.host_adapters.antigravity.transcript import last_prompt

TRANSCRIPT = Path(__file__).parent / "fixtures/transcript.jsonl"
READING = {"antigravity.read_prompt": "transcript"}
QUESTION = "why do we settle the ledger in integer minor units?"
FACT = "integer minor units"
RULE = "no call inside a transaction"


def user_line(text, source="USER_EXPLICIT"):
    content = f"<USER_REQUEST>\n{text}\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nnow\n"
    return json.dumps({"source": source, "type": "USER_INPUT", "content": content}) + "\n"


def model_line(text="done"):
    return json.dumps({"source": "MODEL", "type": "RUN_COMMAND", "content": text}) + "\n"


@pytest.fixture
def transcript(tmp_path):
    """Write a transcript and return its path."""

    def write(*lines):
        path = tmp_path / "transcript_full.jsonl"
        path.write_text("".join(lines), encoding="utf-8", newline="")
        return str(path)

    return write


def parse(payload, event="PreInvocation", settings=None):
    return adapter.parse(payload, event, settings or {})


@pytest.mark.parametrize("name", ["PreInvocation", "PreInvocation.second_call"])
def test_each_model_call_asks_for_the_project_s_state(payload, name):
    event = parse(payload(name))
    assert (event.name, event.kind, event.cwd) == ("PreInvocation", START, "/home/someone/project")
    assert (event.prompt, event.source, event.session, event.subagent) == ("", "", "", False)


@pytest.mark.parametrize("event", ["", "SessionStart", "PostInvocation", "PreToolUse", "Stop"])
def test_other_events_are_not_ours(payload, event):
    assert parse(payload(), event) is None
    assert parse(payload(hook_event_name="PreInvocation"), event) is None


@pytest.mark.parametrize("paths", [[], None, "", "/a", {}, [None], [""], [7], [["/a"]]])
def test_without_a_workspace_there_is_no_project(payload, paths):
    assert parse(payload(workspacePaths=paths, cwd="/home/someone/project")) is None


def test_the_first_workspace_counts(payload):
    assert parse(payload(workspacePaths=["/a", "/b"])).cwd == "/a"


def test_a_prompt_in_the_payload_is_taken(payload):
    event = parse(payload(lastUserInput=QUESTION))
    assert (event.kind, event.prompt) == (PROMPT, QUESTION)


@pytest.mark.parametrize("value", ["", "off", "Transcript", True, None, ["transcript"]])
def test_the_transcript_is_read_on_request_only(payload, value):
    settings = {"antigravity.read_prompt": value}
    event = parse(payload(transcriptPath=str(TRANSCRIPT)), settings=settings)
    assert (event.kind, event.prompt) == (START, "")


@pytest.mark.parametrize("name", ["PreInvocation", "PreInvocation.second_call"])
def test_the_last_prompt_of_the_transcript_is_a_prompt(payload, name):
    event = parse(payload(name, transcriptPath=str(TRANSCRIPT)), settings=READING)
    assert (event.kind, event.prompt) == (PROMPT, QUESTION)


PROMPTS = {
    "its own tags": "a\n</USER_REQUEST>\n<USER_REQUEST>\nb",
    "two lines": "a\n\nb",
    "quotes": 'say "USER_EXPLICIT" \\ é 漢 🙂',
    "nothing": "",
    "a long one": "word " * 100_000,
}


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_a_prompt_is_read_as_it_was_typed(transcript, prompt):
    path = transcript(user_line("before"), model_line(), user_line(prompt))
    assert last_prompt(path, begins=True) == prompt


@pytest.mark.parametrize("tail", [0, 1, 65_000, 65_536, 65_537, 300_000, 5 << 20])
def test_what_tools_print_does_not_hide_the_prompt(transcript, tail):
    path = transcript(user_line("before"), model_line(), user_line("now"), model_line("x" * tail))
    assert last_prompt(path, begins=False) == "now"


def test_a_prompt_too_far_back_is_none(transcript):
    path = transcript(user_line("now"), model_line("x" * (17 << 20)))
    assert last_prompt(path, begins=False) == ""


def test_text_that_hooks_put_in_is_no_prompt(transcript):
    path = transcript(user_line("now"), user_line("by a hook", "SYSTEM_SDK"))
    assert last_prompt(path, begins=True) == "now"


def system_line(source="SYSTEM"):
    step = {"source": source, "type": "SYSTEM_MESSAGE", "content": "a sub-agent has finished"}
    return json.dumps(step) + "\n"


def test_a_turn_that_the_host_began_has_no_prompt(transcript):
    path = transcript(user_line("before"), model_line(), system_line(), model_line())
    assert last_prompt(path, begins=True) == ""
    assert last_prompt(path, begins=False) == ""
    path = transcript(user_line("now"), system_line("SYSTEM_SDK"), model_line("SYSTEM_MESSAGE"))
    assert last_prompt(path, begins=False) == "now"


def test_a_turn_that_begins_does_not_take_the_last_turn_s_prompt(transcript):
    path = transcript(user_line("before"), model_line())
    assert last_prompt(path, begins=True) == ""
    assert last_prompt(path, begins=False) == "before"


@pytest.mark.parametrize("half", [1, 40, -2])
def test_a_line_that_is_half_written_is_waited_for(transcript, half):
    path = transcript(user_line("before"), model_line(), user_line("now")[:half])
    assert last_prompt(path, begins=True) == ""


def test_a_prompt_that_comes_a_little_late_is_read(transcript):
    path = transcript(user_line("before"), model_line())
    if not (child := os.fork()):
        time.sleep(0.05)
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(user_line("now"))
        os._exit(0)
    assert last_prompt(path, begins=True) == "now"
    os.waitpid(child, 0)


def test_a_shortened_transcript_gives_what_it_has(transcript):
    line = user_line("the beginning of").replace("\\n</USER_REQUEST>", " <truncated>")
    assert last_prompt(transcript(line), begins=True).startswith("the beginning of")


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["\n\n"],
        ["not JSON USER_EXPLICIT\n"],
        ['{"source":"USER_EXPLICIT","type":"USER_INPUT"}\n'],
        ['{"source":"USER_EXPLICIT","type":"USER_INPUT","content":["<USER_REQUEST>\\n"]}\n'],
        ['{"source":"USER_EXPLICIT","type":"USER_INPUT","content":"no tags"}\n'],
        ['["USER_EXPLICIT"]\n', '"USER_EXPLICIT"\n', "null\n"],
    ],
)
@pytest.mark.parametrize("begins", [True, False])
def test_what_is_no_transcript_has_no_prompt(transcript, lines, begins):
    assert last_prompt(transcript(*lines), begins) == ""


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    started = time.monotonic()
    for path in ("", "pipe", ".", "absent", "a\0b", "/dev/zero", "/dev/tty"):
        assert last_prompt(str(tmp_path / path) if path else "", begins=True) == ""
    assert time.monotonic() - started < 7 * 0.25


def test_the_answer_is_exactly_one_step():
    answer = adapter.render(None, 'a "b"\n<é>', "")
    assert answer == b'{"injectSteps":[{"ephemeralMessage":"a \\"b\\"\\n<\\u00e9>"}]}'


@given(st.text())
def test_any_text_arrives_as_it_is(text):
    answer = json.loads(adapter.render(None, text, ""))
    assert answer == {"injectSteps": [{"ephemeralMessage": text}]}


def test_a_text_that_the_host_would_cut_is_not_sent():
    assert len(adapter.render(None, "é" * (49_152 // 2), "")) > 49_152
    assert adapter.render(None, "é" * (49_152 // 2) + "a", "") == b"{}"


hostile = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
FIELDS = ["workspacePaths", "lastUserInput", "invocationNum", "conversationId"]


@given(st.dictionaries(st.sampled_from(FIELDS), hostile), st.booleans())
def test_no_payload_is_a_fault(payload, reading):
    event = parse(payload, settings=READING if reading else {})
    assert event is None or (isinstance(event.cwd, str) and isinstance(event.prompt, str))


@pytest.fixture
def call(run_hook):
    """Run the installed hook on an event as the host's entry does."""

    def run(event, **options):
        return run_hook(event, "antigravity", event_name="PreInvocation", **options)

    return run


@pytest.fixture
def call_patched(run_patched):
    """The same, after a statement that breaks a part of it."""

    def run(statement, event, **options):
        return run_patched(statement, event, "antigravity", event_name="PreInvocation", **options)

    return run


def test_every_call_of_a_turn_is_told_the_same(payload, project, call, message):
    names = ["PreInvocation", "PreInvocation.second_call", "PreInvocation.second_call"]
    answers = {call(payload(name, workspacePaths=[str(project)])) for name in names}
    (answer,) = answers
    assert RULE in message(answer)


def test_every_call_is_told_the_same_of_the_prompt(
    payload, project, call, message, settings, transcript
):
    settings(**READING)
    fields = {"workspacePaths": [str(project)], "transcriptPath": transcript(user_line(QUESTION))}
    first = call(payload(**fields))
    transcript(user_line(QUESTION), model_line(), user_line("from a hook", "SYSTEM_SDK"))
    assert call(payload("PreInvocation.second_call", **fields)) == first
    assert FACT in message(first)
    assert RULE not in message(first)


def test_a_prompt_that_cannot_be_read_is_silence(payload, project, call, settings, receipt):
    settings(**READING)
    assert call(payload(workspacePaths=[str(project)])) == b"{}"
    assert receipt()["silence_reason"] == "no_prompt"


def test_the_folder_of_the_process_is_not_the_project(payload, project, call):
    assert call(payload("PreInvocation.no_workspace"), cwd=project) == b"{}"
    assert call(payload("PreInvocation.no_workspace", cwd=str(project)), cwd=project) == b"{}"


@pytest.mark.parametrize("sent", [b"", b"\n", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 10_000])
def test_bad_input_is_answered(call, project, sent):
    assert call(sent, cwd=project) == b"{}"


def test_a_broken_store_is_answered(payload, project, call):
    (project / ".agentlas/ontology-runtime.sqlite").write_bytes(b"SQLite format 3\0" + bytes(5000))
    assert call(payload(workspacePaths=[str(project)]), logs=True) == b"{}"


@pytest.mark.parametrize("variables", [{}, {"HOME": ""}, {"HOME": "/nonexistent"}, {"HOME": "x"}])
def test_without_a_home_there_is_an_answer(payload, project, call, variables):
    env = {"PATH": os.defpath} | variables
    assert call(payload(workspacePaths=[str(project)]), env=env) == b"{}"


def test_a_switched_off_memory_answers(payload, project, call, environment):
    env = environment | {"AGENTLAS_MEMORY": "off"}
    assert call(payload(workspacePaths=[str(project)]), env=env) == b"{}"


HANGS = {
    "project": "import agentlas_memory.project as m; m.find_project = lambda *a: sleep(60)",
    "opening": "import agentlas_memory.ontology.store as m; m.check_header = lambda *a: sleep(60)",
    "reading": "import agentlas_memory.stdin as m; m.read_event = lambda *a: sleep(60)",
    "adapter": (
        "import agentlas_memory.host_adapters.antigravity.adapter as m;"
        "m.parse = lambda *a: sleep(60)"
    ),
}


@pytest.mark.parametrize("statement", HANGS.values(), ids=HANGS)
def test_a_run_that_takes_too_long_is_answered(payload, project, call_patched, settings, statement):
    settings(deadline_ms=300)
    event = payload(workspacePaths=[str(project)])
    assert call_patched(statement, event, logs=None) == b"{}"


def test_a_pipe_that_stays_open_is_answered(call, settings):
    settings(deadline_ms=300)
    read, write = os.pipe()
    try:
        os.write(write, b'{"workspacePaths":')
        assert call(None, stdin=read, logs=None) == b"{}"
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.parametrize("fault", ["MemoryError", "SystemExit(2)", "KeyboardInterrupt"])
def test_any_fault_is_answered(payload, project, call_patched, fault):
    statement = (
        "import agentlas_memory.host_adapters.antigravity.adapter as m\n"
        f"def fail(*a): raise {fault}\n"
        "m.render = fail"
    )
    event = payload(workspacePaths=[str(project)])
    assert call_patched(statement, event, logs=True) == b"{}"


@pytest.mark.parametrize("reading", [False, True])
def test_nothing_is_imported_beyond_the_hook_s_list(
    payload, project, launcher, environment, settings, transcript, reading
):
    settings(**READING if reading else {})
    event = payload(workspacePaths=[str(project)], transcriptPath=transcript(user_line(QUESTION)))
    words = [str(launcher), "--host", "antigravity", "--event", "PreInvocation"]
    bare, loaded = modules(["-c", "pass"], event, environment), modules(words, event, environment)
    assert {name for name in loaded - bare if not name.startswith("agentlas_memory")} <= ALLOWED
    assert ("agentlas_memory.host_adapters.antigravity.transcript" in loaded) == reading


def modules(words, event, environment):
    """Return the modules that a run imports, as its launcher starts it."""
    python = [Path(sys.prefix, "bin", "python3"), "-I", "-S", "-X", "importtime", *words]
    sent = json.dumps(event).encode()
    done = subprocess.run(python, input=sent, capture_output=True, env=environment, check=True)
    return {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
