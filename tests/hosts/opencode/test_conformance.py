"""The real OpenCode with our plugin in it: what arrives in the requests to the model."""

import os
import shutil
import time
from shlex import quote

import pytest
from hosts.checks import check_left, check_second_install, check_uninstall
from hosts.model_server import ANSWER
from hosts.opencode.world import seed
from hosts.processes import all_end, within
from hosts.scene import changed, files_in, that_name_us

from agentlas_memory.home import CHILD_VARIABLE
from agentlas_memory.host_adapters.opencode.install_spec import plugin_text

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

OPENING = b"<agentlas-memory-context "
QUESTION = "why integer minor units in the ledger?"
LEDGER = "# Ledger\n\nWe settle the ledger in integer minor units: floats lose cents.\n"
LIMIT = 12  # seconds until the plugin ends a hook
ROLES = {"system": "system", "message": "user"}
TOOL = ("bash", {"command": "echo hi", "description": "Says hi"})
SLOTS = pytest.mark.parametrize("slot", ["system", "message"])


@pytest.fixture
def known(bare):
    """OpenCode in a project that knows about the ledger."""
    bare.make_known(bare.project, {"docs/ledger.md": LEDGER})
    return bare


@pytest.fixture
def world(known):
    """OpenCode with our plugin."""
    known.install()
    return known


def placed(request, slot, capsule):
    """Tell whether a request holds the capsule where the slot says, whole and once."""
    system = request.texts("system")
    newest = [m["content"] for m in request.body["messages"] if m["role"] == ROLES[slot]][-1]
    there = isinstance(newest, str) and newest.endswith("\n\n" + capsule)
    return there and len(system) == 1 and request.raw.count(OPENING) == 1


def without(requests):
    return not any(OPENING in request.raw for request in requests)


@SLOTS
def test_a_turn_and_its_continuation(world, model, holds, slot):
    world.settings(opencode__slot=slot)
    model.script["ledger"] = [TOOL, "DONE"]
    capsule = world.ask_raw(QUESTION)
    run = world.ask(QUESTION)
    chats = model.of_kind("chat")
    seen = run.stdout + run.stderr
    holds(
        f"slot {slot}: `run` answers, exit code 0, and shows nothing of us",
        run.returncode == 0 and "DONE" in run.stdout and "agentlas" not in seen,
        seen,
    )
    holds(
        f"slot {slot}: both steps of a tool loop hold the hook's bytes, in place, once,"
        " at the end of the only system message or of the last user message",
        len(chats) == 2 and all(placed(chat, slot, capsule) for chat in chats),
        f"{len(capsule.encode())} bytes",
    )
    first, second = (chat.body["messages"] for chat in chats)
    holds(f"slot {slot}: the second step begins with the first", second[: len(first)] == first)
    titles = model.of_kind("title")
    holds(f"slot {slot}: the request for a title is without it", titles and without(titles))

    model.requests.clear()
    run = world.ask("--continue", QUESTION)
    holds(
        f"slot {slot}: `run --continue` in a new process holds it once",
        run.returncode == 0 and all(placed(r, slot, capsule) for r in model.of_kind("chat")),
        model.of_kind("chat")[0].texts("user"),
    )
    model.requests.clear()
    world.ask("--continue", "thanks")
    holds(f"slot {slot}: a prompt that asks nothing is without it", without(model.requests))
    stored = [f for f in (world.home / ".local").rglob("*") if f.is_file()]
    holds(
        f"slot {slot}: OpenCode's own files hold no capsule",
        stored and not [file for file in stored if OPENING in file.read_bytes()],
    )


@SLOTS
def test_compaction(world, model, holds, slot):
    world.settings(opencode__slot=slot)
    world.serve()
    session = world.session()
    (first,) = world.prompt(session, QUESTION)
    capsule = world.ask_raw(QUESTION)
    holds(f"slot {slot}: a prompt over HTTP", placed(first, slot, capsule))

    provider = {"providerID": "mock", "modelID": "large"}
    status, _ = world.call("POST", f"/session/{session}/summarize", provider)
    (summary,) = model.of_kind("compaction")
    holds(
        f"slot {slot}: a compaction holds it once, at the end of the summarizer's message",
        status == 200
        and summary.raw.count(OPENING) == 1
        and summary.texts("user")[-1].endswith(capsule),
    )
    (after,) = world.prompt(session, QUESTION)
    holds(f"slot {slot}: after a compaction it is there again", placed(after, slot, capsule))

    model.costs = [99_000]  # the next answer fills the context
    first, summary, *after = world.prompt(session, QUESTION)
    holds(
        f"slot {slot}: OpenCode's own compaction holds it once, the request after it too",
        (first.kind, summary.kind, len(after)) == ("chat", "compaction", 1)
        and summary.raw.count(OPENING) == 1
        and placed(after[0], slot, capsule),
        after[0].texts("user"),
    )


def test_subagents(world, model, holds):
    task = {"description": "Units", "prompt": QUESTION, "subagent_type": "general"}
    model.script["delegate"] = [("task", task), "DONE"]
    world.serve()
    for wanted in (False, True):
        world.settings(subagents=wanted)
        requests = world.prompt(world.session(), f"delegate: {QUESTION}")
        inner = [r for r in requests if "delegate" not in r.texts("user")[0]]
        outer = [r for r in requests if r not in inner]
        holds(
            f"a sub-agent's request {'holds' if wanted else 'is without'} the capsule where"
            f" `subagents` is {wanted}; its parent's steps hold it",
            len(inner) == 1
            and without(inner) != wanted
            and len(outer) == 2
            and all(OPENING in request.raw for request in outer),
        )


def test_slash_command_and_retry(world, model, holds):
    world.configure({"command": {"explain": {"template": "Explain: $ARGUMENTS"}}})
    model.script["again"] = [503, ANSWER]
    world.serve()
    session = world.session()
    body = {"command": "explain", "arguments": QUESTION}
    status, _ = world.call("POST", f"/session/{session}/command", body)
    chats = model.of_kind("chat")
    holds(
        "a slash command is answered by what it was expanded to, once",
        status == 200 and [chat.raw.count(OPENING) for chat in chats] == [1],
    )
    requests = world.prompt(session, f"again: {QUESTION}")
    holds(
        "a request that OpenCode repeats has the same bytes",
        len(requests) == 2 and requests[0].raw == requests[1].raw and OPENING in requests[0].raw,
        len(requests),
    )


def test_two_directories_in_one_server(world, model, holds, program):
    other = world.temporary / "other"
    other.mkdir()
    world.serve()
    here, there = world.session(), world.session(other)
    (known,) = world.prompt(here, QUESTION)
    (unknown,) = world.prompt(there, QUESTION, other)
    (again,) = world.prompt(here, QUESTION)
    holds(
        "two directories in one server: each is asked about as its own",
        not without([known]) and without([unknown]) and not without([again]),
    )


def test_a_hook_that_fails(world, model, holds, launcher):
    answer = f"printf '%s' '{world.ask_raw(QUESTION)}'\n"
    world.serve()
    session = world.session()
    world.replace_hook(None)
    failures = {
        "is missing": None,
        "exits with 7": f"{answer}exit 7\n",
        "prints garbage": f"echo garbage\n{answer}",
        "is killed": f"{answer}kill -9 $$\n",
    }
    for what, script in failures.items():
        if script:
            world.replace_hook(script)
        (request,) = world.prompt(session, QUESTION)
        holds(f"a hook that {what} costs the capsule and nothing else", without([request]))
    world.restore_hook()
    (request,) = world.prompt(session, QUESTION)
    holds("and the next prompt is answered again", not without([request]))


HANGING = "sleep 90 &\necho $$ $! > {0}.new\nmv {0}.new {0}\nwait\n"


def hang(world):
    file = world.temporary / "pids"
    world.replace_hook(HANGING.format(quote(str(file))))
    return file


def started(file):
    """Wait for the hook, and return its process and the one it started."""
    assert within(60, file.exists)
    return file.read_text().split()


def test_a_hook_that_hangs(world, model, holds):
    world.serve()
    session = world.session()
    world.prompt(session, QUESTION)
    file = hang(world)
    began = time.monotonic()
    (request,) = world.prompt(session, QUESTION)
    took = time.monotonic() - began
    holds("a hook that hangs is waited for 12 seconds", LIMIT <= took < LIMIT + 30, took)
    holds("and then costs the capsule only", without([request]))
    holds("and is dead, with what it started", all_end(started(file), 5))


@pytest.mark.parametrize("way", ["dispose", "delete"])
def test_the_end_of_a_session_ends_its_hook(world, model, holds, way):
    world.serve()
    session = world.session()
    world.prompt(session, "thanks")
    pids = hang(world)
    parts = {"parts": [{"type": "text", "text": QUESTION}]}
    world.call("POST", f"/session/{session}/prompt_async", parts)
    pids = started(pids)
    began = time.monotonic()
    if way == "dispose":
        world.call("POST", "/instance/dispose", {})
    else:
        world.call("DELETE", f"/session/{session}")
    ended = all_end(pids, LIMIT)
    took = time.monotonic() - began
    what = "a server's instance that is disposed of" if way == "dispose" else "a deleted session"
    holds(
        f"{what} ends its hook, and does not wait for it",
        ended and took < LIMIT - 4,  # well before the plugin's own limit would have ended it
        took,
    )


def test_a_hook_outlives_a_killed_host_by_its_deadline(world, model, holds, launcher):
    world.serve()
    session = world.session()
    world.prompt(session, "thanks")
    file, pipe = world.temporary / "pids", world.temporary / "pipe"
    os.mkfifo(pipe)  # a question that never comes: the hook waits as long as it ever does
    words = f"exec 3<>'{pipe}'\necho $$ > '{file}'\nexec '{launcher}' --host opencode <&3\n"
    world.replace_hook(words)
    parts = {"parts": [{"type": "text", "text": QUESTION}]}
    world.call("POST", f"/session/{session}/prompt_async", parts)
    pids = started(file)
    began = time.monotonic()
    world.server.terminate()
    world.server.wait(60)
    took = time.monotonic() - began
    holds("SIGTERM ends the server while a hook runs", took < LIMIT - 4, took)
    holds("and the hook ends by its own deadline", all_end(pids, 20))


def test_a_plugin_that_throws_everywhere(world, model, holds):
    text = plugin_text(world.place)
    call = "await hook(input, output)"
    broken = text.replace(call, f"{call}; throw Error('x')")
    assert broken != text
    world.plugin.write_text(broken)
    run = world.ask(QUESTION)
    holds(
        "an error in each of our hooks never breaks a prompt",
        run.returncode == 0 and ANSWER in run.stdout and len(model.of_kind("chat")) == 1,
        run.stdout + run.stderr,
    )
    model.requests.clear()
    world.plugin.write_text(text.replace("turns.get(", "nothing.get("))
    run = world.ask(QUESTION)
    answered = run.returncode == 0 and model.of_kind("chat")
    holds("nor does one in their midst", answered and without(model.requests))


def test_a_run_that_we_started_is_left_alone(world, model, holds):
    run = world.ask(QUESTION, **{CHILD_VARIABLE: "1"})
    holds(
        "a run that inherits our mark is told nothing",
        run.returncode == 0 and model.of_kind("chat") and without(model.requests),
    )


def test_other_folders_and_agents(world, model, holds):
    title = "Name this conversation in three words."
    world.configure({"agent": {"title": {"prompt": title}}})
    own = world.temporary / "own"
    seed(own)
    shutil.copytree(world.plugin.parent, own / "plugins")
    run = world.ask(QUESTION, OPENCODE_CONFIG_DIR=str(own))
    main = [r for r in model.requests if not r.texts("system")[0].startswith(title)]
    named = [r for r in model.requests if r not in main]
    holds("a title by an agent's own prompt is without it", named and without(named))
    holds(
        "with a second copy in OPENCODE_CONFIG_DIR, a request holds it once",
        run.returncode == 0 and [r.raw.count(OPENING) for r in main] == [1],
    )
    world.plugin.unlink()
    model.requests.clear()
    world.ask(QUESTION, OPENCODE_CONFIG_DIR=str(own))
    main = [r for r in model.requests if not r.texts("system")[0].startswith(title)]
    holds("the plugin in OPENCODE_CONFIG_DIR alone", [r.raw.count(OPENING) for r in main] == [1])


@pytest.fixture
def used(known):
    """OpenCode in a home of somebody who has used it."""
    known.ask("thanks")
    known.run("--version")
    return known


def test_again_is_the_same(used, holds):
    check_second_install(used, holds)


def test_uninstall_without_a_session(used, holds):
    check_uninstall(used, holds)


def test_uninstall_after_a_session(used, model, holds):
    before = files_in(used.home)
    used.install()
    used.ask(QUESTION)
    assert not without(model.requests)
    left = used.uninstall()["left"]
    after = files_in(used.home)
    settings = [name for name in changed(before, after) if name.startswith(".config/")]
    holds("a session between them changes nothing in its configuration", settings == [], settings)
    named = [name for name in that_name_us(after) if not name.startswith(RECORDS)]
    holds("after `uninstall` its log and its snapshots of projects alone name us", not named, named)
    check_left(used, holds, left)
    model.requests.clear()
    used.ask(QUESTION)
    holds("after `uninstall` the model is told nothing", without(model.requests))


# Of a project in git it keeps snapshots, with the names of all files: of the store's as well.
RECORDS = (".local/share/opencode/log/", ".local/share/opencode/snapshot/")

NOT_APPLICABLE = {
    "the desktop app": "it needs a screen",
    "`opencode attach` and the terminal interface": "they need a terminal",
    "the first start without a network": "more than a minute; measured by hand",
}


@pytest.mark.parametrize("sentence", NOT_APPLICABLE)
def test_what_is_not_checked_here(not_applicable, sentence):
    not_applicable(sentence, NOT_APPLICABLE[sentence])
