"""What hosts send: whole, in pieces, huge, broken, never closed."""

import json
import os
import subprocess
import threading
import time

import pytest

FACT = "integer minor units"


@pytest.fixture
def feed(launcher, environment):
    """Write pieces into the hook's stdin, and leave it open unless told; return its answer."""

    def run(pieces, *, pause=0.0, close=False, most_seconds=2.0):
        command = [launcher, "--host", "claude", "--event", "UserPromptSubmit"]
        started = time.monotonic()
        with subprocess.Popen(
            command, env=environment, stdin=-1, stdout=-1, stderr=-1, bufsize=0
        ) as hook:
            watch = threading.Timer(20, hook.kill)  # one that would hang for ever
            watch.start()
            write_all(hook, pieces, pause, close)
            answer, complaint = hook.stdout.read(), hook.stderr.read()
            watch.cancel()
        assert time.monotonic() - started < most_seconds
        assert (hook.returncode, complaint) == (0, b"")
        return answer

    def write_all(hook, pieces, pause, close):
        for piece in pieces:
            while piece:
                piece = piece[hook.stdin.write(piece) :]
            time.sleep(pause)
        if close:
            hook.stdin.close()

    return run


def blocks(data, size):
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.fixture
def event(make_project, prompt_event):
    """A prompt that has an answer, as bytes, with whatever the test puts into it."""
    root = make_project()
    return lambda **fields: json.dumps(prompt_event(root, **fields)).encode()


SHAPES = {
    "pretty": lambda e: json.dumps(json.loads(e), indent=2).encode(),
    "byte order mark": lambda e: b"\xef\xbb\xbf" + e,
    "white space around": lambda e: b" \r\n\t" + e + b"\r\n\n",
    "a second value": lambda e: e + b'\n{"prompt": "thanks"}',
    "text behind": lambda e: e + b" and so on",
    "deep nesting": lambda e: e[:-1] + b',"deep":' + b'{"a":[' * 400 + b"]}" * 400 + b"}",
    "many digits": lambda e: e[:-1] + b',"n":' + b"9" * 6000 + b"}",
    "large exponent": lambda e: e[:-1] + b',"n":[1e999,-1E-999,NaN,-Infinity]}',
    "unknown fields": lambda e: e[:-1] + b',"x":null,"y":[true,{}],"session":7}',
    "an earlier prompt field": lambda e: b'{"prompt":"thanks",' + e[1:],
    "raw control characters": lambda e: e[:-1] + b',"x":"a\x01\tb\n"}',
    "bytes that are not UTF-8": lambda e: e[:-1] + b',"x":"\xff\xfe\xc3("}',
}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_event_is_read_in_every_shape_of_json(event, run_hook, context, shape):
    assert FACT in context(run_hook(SHAPES[shape](event())))


NOT_EVENTS = {
    "nothing": b"",
    "white space": b" \n\t\r\n",
    "NUL": b"\0",
    "a word": b"hello",
    "a list": b'[{"prompt":"x"}]',
    "a string": b'"prompt"',
    "a number": b"7",
    "null": b"null",
    "half an object": b'{"prompt":"why do we settle the led',
    "no value": b'{"prompt":}',
    "single quotes": b"{'prompt': 'x'}",
    "only a mark": b"\xef\xbb\xbf",
    "endless nesting": b'{"a":' * 200_000,
    "endless list": b"[" * 200_000,
}


@pytest.mark.parametrize("stdin", NOT_EVENTS.values(), ids=NOT_EVENTS)
def test_what_is_no_event_is_answered_with_nothing(make_project, run_hook, stdin):
    make_project(name=".")  # around the hook's own folder
    assert run_hook(stdin) == b""


def test_utf_16_is_no_event(event, run_hook):
    assert run_hook(event().decode().encode("utf-16")) == b""


PROMPTS = {
    "empty": "",
    "spaces": " \n\t ",
    "parts": [{"type": "text", "text": "why integer minor units in the ledger"}],
    "null": None,
    "number": 7,
    "true": True,
    "object": {"text": "ledger"},
}


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_a_prompt_that_says_nothing_is_silent(event, run_hook, receipt, prompt):
    assert run_hook(event(prompt=prompt)) == b""
    assert receipt()["silence_reason"] == "no_prompt"


def test_a_missing_prompt_is_silent(event, run_hook):
    fields = json.loads(event())
    del fields["prompt"]
    assert run_hook(fields) == b""


HARD = {
    "lone surrogate": "\ud83c",
    "surrogates reversed": "\udf1f\ud83c",
    "NUL": "\0",
    "mark": "\ufeff",
    "line separator": "\u2028\u2029",
    "private use": "\ue000\U0010ffff",
    "combining marks": "e" + "\u0301" * 100,
    "bidi": "\u202e\u2066",
}


@pytest.mark.parametrize("hard", HARD.values(), ids=HARD)
def test_hard_characters_in_a_prompt_do_no_harm(event, run_hook, context, hard):
    prompt = f"{hard} why do we settle the ledger {hard} in integer minor units? {hard}"
    assert FACT in context(run_hook(event(prompt=prompt)))
    run_hook(event(prompt=hard))


PLAIN_SPEECH = [
    "don't use agents",
    "pre-edit-check",
    "Downloads/transcripts",
    '"--error-on-warnings"',
    "ubuntu 20.04",
    "throughput in GB/s",
    "col:val mapping",
]


@pytest.mark.parametrize("prompt", PLAIN_SPEECH)
def test_query_operators_in_plain_speech_are_words(make_project, ask, receipt, prompt):
    fact = f"Remember for this repository: {prompt}, as agreed."
    ask(make_project({"docs/fact.md": f"# Agreed\n\n{fact}\n"}), prompt)
    assert [one["lexical_rank"] for one in receipt()["candidates"]] == [1]


@pytest.mark.parametrize(
    "prompt", ["a AND OR NOT (", "*", "^x", '"', "NEAR(a b)", "' OR 1=1 --", ")" * 99]
)
def test_query_operators_alone_do_no_harm(make_project, ask, prompt):
    ask(make_project(), prompt)


def test_metadata_around_a_question_does_not_outweigh_it(make_project, ask):
    keys = "We rotate the signing keys every ninety days with the keyring script."
    root = make_project(
        {
            "docs/keys.md": f"# Keys\n\n{keys}\n",
            "docs/ids.md": "# Messages\n\nA message id is unique for each sender and channel.\n",
        }
    )
    lines = [f'  "message_id_{n}": "sender-{n}@channel.example",' for n in range(40)]
    capsule = ask(root, "\n".join(["{", *lines, "}", "how do we rotate keys?"]))
    assert keys in capsule
    assert "message id" not in capsule


LOG = "2024-05-01T10:00:00Z INFO worker[17] finished job in 12 ms, queue empty, going on\n"
MIB = 1 << 20


@pytest.mark.parametrize("question", ["{0}\n{1}", "{1}\n{0}"], ids=["at its head", "at its tail"])
def test_eight_mebibytes_of_log_around_a_question(event, run_hook, context, question):
    log = LOG * (8 * MIB // len(LOG))
    prompt = question.format("Why do we settle the ledger in integer minor units?", log)
    data = event(prompt=prompt)
    seconds = []
    for _ in range(2):  # the faster one: others may use this machine
        started = time.monotonic()
        answer = run_hook(data.replace(b"session ", b"session %d" % len(seconds)))
        seconds.append(time.monotonic() - started)
        assert FACT in context(answer)
    assert min(seconds) < 1.0


def test_a_pipe_that_stays_open_is_not_waited_for(event, feed, context):
    assert FACT in context(feed([event()], most_seconds=1.0))


def test_a_newline_of_its_own_ends_nothing(event, feed, context):
    data = event()
    data = data[:-1] + b" " * (65_536 - len(data)) + b"}"
    assert FACT in context(feed([data, b"\n"], pause=0.02, most_seconds=1.0))


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_an_event_may_come_in_small_pieces(event, feed, context, size):
    assert FACT in context(feed(blocks(event(), size)))


def test_a_slow_host_is_waited_for_within_a_value(event, feed, context):
    fields = json.loads(event())
    data = json.dumps({"nested": {"a": {"b": {}}}} | fields).encode()
    cut = data.index(b"}}}") + 1
    pieces = [data[:cut], data[cut : cut + 1], data[cut + 1 :]]
    assert FACT in context(feed(pieces, pause=0.15))


@pytest.mark.parametrize("close", [True, False], ids=["closed", "open"])
def test_large_events_are_read_to_their_end(event, feed, context, close):
    data = event(prompt="why do we settle the ledger in integer minor units? " + LOG * 20_000)
    assert FACT in context(feed(blocks(data, 65_536), close=close))


def test_braces_at_block_borders_cost_no_second_look(event, feed, context):
    filler = ("x" * 65_535 + "}") * 128
    data = event(prompt="why do we settle the ledger in integer minor units?\n")
    start = data[:-2].ljust(65_535) + b"}"  # inside the prompt
    pieces = [start, *blocks(filler.encode(), 65_536), b'"}']
    assert FACT in context(feed(pieces))


def test_a_host_that_sends_nothing_is_left_at_the_deadline(feed):
    started = time.monotonic()
    assert feed([]) == b""
    assert time.monotonic() - started > 1.4


def test_a_host_that_stops_in_the_middle_is_left_at_the_deadline(event, feed):
    assert feed([event()[:-5]]) == b""


@pytest.mark.parametrize(
    "variable", ["AGENTLAS_MEMORY=off", "AGENTLAS_MEMORY_CHILD=1", "GROK_HOOK_EVENT=x"]
)
def test_even_a_silenced_hook_reads_its_event(environment, event, feed, variable):
    name, _, value = variable.partition("=")
    environment[name] = value
    data = event(prompt=LOG * 20_000)
    assert feed(blocks(data, 65_536)) == b""  # a broken pipe would raise here


def test_stdin_may_be_the_null_device(make_project, run_hook):
    make_project(name=".")
    assert run_hook(b"", stdin=subprocess.DEVNULL) == b""


def test_stdin_may_be_a_file(event, run_hook, context, tmp_path):
    (tmp_path / "event.json").write_bytes(event())
    with open(tmp_path / "event.json", "rb") as file:
        assert FACT in context(run_hook(b"", stdin=file))


@pytest.mark.parametrize("streams", ["<&-", ">&-", "<&- >&- 2>&-", "2>&-"])
def test_closed_streams_are_survived(event, run_hook, launcher, streams, tmp_path):
    (tmp_path / "event.json").write_bytes(event())
    source = "" if "<&-" in streams else f"<{tmp_path}/event.json"
    script = f'exec "$0" "$@" {source} {streams}'
    run_hook(b"", program=["/bin/sh", "-c", script, launcher], logs="<&-" in streams)


def test_a_reader_that_went_away_is_survived(event, run_hook):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        run_hook(event(), input=event(), stdout=writing)
    finally:
        os.close(writing)


def test_a_reader_that_does_not_read_is_left_at_the_deadline(event, run_hook):
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writing, True)
    try:
        run_hook(event(), input=event(), stdout=writing, logs=True)
    finally:
        os.close(writing)
        os.close(reading)


def test_the_prompt_can_be_given_as_an_argument_to_the_raw_host(make_project, run_hook):
    root = make_project()
    arguments = [
        "--host=raw",
        "--event",
        "Ask",
        "--cwd",
        str(root),
        "--prompt",
        "integer minor units ledger",
    ]
    assert FACT.encode() in run_hook(b"", arguments=arguments)
    assert FACT.encode() not in run_hook(b"", arguments=[*arguments[:-1], ""])


ARGUMENTS = {
    "none": [],
    "unknown host": ["--host", "emacs"],
    "no value": ["--host"],
    "a path as host": ["--host", "../claude"],
    "blank": ["--host", "", "--event", ""],
    "words": ["claude", "UserPromptSubmit"],
    "help": ["--help"],
    "not UTF-8": [b"--host", b"cl\xffaude"],
    "long": ["--host", "x" * 100_000, "--event", "y" * 100_000],
}


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
def test_wrong_arguments_are_silent_and_leave_a_trace(run_hook, arguments):
    assert run_hook(b"{}", arguments=arguments, logs=True) == b""


def test_unknown_options_are_passed_over(run_hook):
    arguments = ["--host", "claude", "--event", "UserPromptSubmit", "--colour", "-x", "--"]
    assert run_hook(b"{}", arguments=arguments) == b""


def test_a_megabyte_of_arguments_is_passed_over(event, run_hook, context):
    arguments = ["--host", "claude", *["--padding", "x" * 100_000] * 10]
    assert FACT in context(run_hook(event(), arguments=arguments))


def test_arguments_that_are_not_utf_8_are_survived(make_project, run_hook):
    arguments = [b"--host", b"raw", b"--prompt", b"ledger \xff\xfe minor units", b"--cwd"]
    run_hook(b"", arguments=[*arguments, bytes(make_project())])


NO_EVENTS_OF_OURS = ["PreToolUse", "SubagentStop", "Stop", "userpromptsubmit", "", "\0"]


@pytest.mark.parametrize("name", NO_EVENTS_OF_OURS)
def test_other_events_are_answered_with_nothing(event, run_hook, name):
    assert run_hook(event(hook_event_name=name), event_name="") == b""


def test_the_event_on_the_command_line_stands_in_for_a_missing_one(event, run_hook, context):
    fields = json.loads(event())
    del fields["hook_event_name"]
    assert FACT in context(run_hook(fields))


def test_a_transcript_is_never_read(event, run_hook, tmp_path):
    """A FIFO in its place would be waited for."""
    os.mkfifo(tmp_path / "transcript.jsonl")
    assert run_hook(event(prompt="", transcript_path=str(tmp_path / "transcript.jsonl"))) == b""
