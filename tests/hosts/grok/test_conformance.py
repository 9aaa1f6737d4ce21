"""Grok itself, against a model on loopback: what arrives in its requests, and when."""

import json
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hosts.checks import check_left, check_second_install, check_uninstall
from hosts.grok.conftest import CACHE, LEDGER, LOGIN, SILENT, read
from hosts.grok.obedient import obey, texts, tool_results, workspace_path
from hosts.model_server import ANSWER
from hosts.processes import all_end
from hosts.scene import TROUBLES, changed, files_in, that_name_us, write_files

from agentlas_memory.home import CHILD_VARIABLE

pytestmark = [pytest.mark.conformance, pytest.mark.slow]


def pointer_of(host):
    block = host.spec.surfaces(host.place)[0]
    return f"{block.begin}\n{block.text}{block.end}\n"


def answered(done):
    return (done.returncode, done.stdout.strip(), done.stderr) == (0, ANSWER, "")


def looked_up(request):
    """Return the entry that the model read last in a request's history."""
    return tool_results(request)[-1]


def seen_when_asked(host, workspace):
    """Return a script whose first answer keeps the entry as it is when the request arrives."""
    kept = []

    def look(_request):
        kept.append(host.entry(workspace))
        return ANSWER

    return kept, [look]


def test_the_pointer_is_in_the_first_request(host, holds):
    root = host.make_project()
    done = host.ask(root, LEDGER[0])
    pointer = pointer_of(host)
    (request,) = host.model.requests
    where = [text for text in texts(request, "user") if pointer in text]
    holds("the pointer is in a user message of the first request", answered(done) and where)
    times = json.dumps(request, ensure_ascii=False).count("agentlas-memory: begin")
    holds("the pointer is there once", times == 1, f"{len(pointer.encode())} bytes")
    holds("nothing that the hook prints reaches the model", LEDGER[1] not in str(texts(request)))


def test_a_model_that_follows_the_pointer_reads_the_capsule(host, holds):
    root = host.make_project()
    done = host.ask(root, LEDGER[0], script=obey())
    requests = host.model.requests
    holds("index and entry are read without an approval", answered(done) and len(requests) == 3)
    entry = looked_up(requests[2])
    holds("the capsule's text is in the request after the read", LEDGER[1] in entry, entry)
    holds("the entry begins with the path that the model is told", first_line_names(entry, root))


def first_line_names(entry, root):
    return entry.splitlines()[0] == f'Workspace Path: "{root}"'


def test_the_entry_is_current_when_the_request_leaves(host, holds):
    root = host.make_project()
    kept, script = seen_when_asked(host, root)
    host.ask(root, LEDGER[0], script=script)
    holds("the entry holds this prompt's capsule when the request arrives", LEDGER[1] in kept[0])


def test_each_turn_has_its_own_entry(host, holds):
    root = host.make_project()
    with host.session(root) as send:
        send(LEDGER[0], *obey())
        first = looked_up(host.model.requests[-1])
        send(LOGIN[0], *obey(index_known=True))
        second = looked_up(host.model.requests[-1])
        kept, script = seen_when_asked(host, root)
        send(SILENT, *script)
    holds("a first turn reads its own capsule", LEDGER[1] in first and LOGIN[1] not in first)
    holds("a second turn reads its own", LOGIN[1] in second and LEDGER[1] not in second)
    holds(
        "a prompt without an answer finds an empty entry", kept == [f'Workspace Path: "{root}"\n']
    )
    times = str(texts(host.model.requests[-1])).count("agentlas-memory: begin")
    holds("the pointer is there once after three turns", times == 1)


def test_after_a_resume(host, holds):
    root = host.make_project()
    host.ask(root, LEDGER[0])
    done = host.ask(root, LOGIN[0], "--continue", script=obey())
    requests = host.model.requests
    resumed = answered(done) and LEDGER[0] in str(texts(requests[0]))
    holds("a resumed session has the pointer once", resumed and pointers(requests[0]) == 1)
    entry = looked_up(requests[-1])
    holds(
        "a resumed session reads its new prompt's capsule",
        LOGIN[1] in entry and LEDGER[1] not in entry,
    )


def pointers(request):
    return json.dumps(request, ensure_ascii=False).count("agentlas-memory: begin")


def test_after_a_compaction(host, holds):
    root = host.make_project()
    with host.session(root) as send:
        send(LEDGER[0], *obey())
        send("/compact")
        send(LOGIN[0], *obey())
        requests = host.model.requests
    forgotten = LEDGER[1] not in str(texts(requests[0]))
    holds("a compacted session has the pointer once", forgotten and pointers(requests[0]) == 1)
    holds("a compacted session reads its prompt's capsule", LOGIN[1] in looked_up(requests[-1]))


@pytest.mark.parametrize("kind", ["general-purpose", "explore"])
def test_a_sub_agent_leaves_the_entry_alone(host, holds, kind):
    root = host.make_project()
    task = {"prompt": LOGIN[0], "description": "look", "subagent_type": kind, "background": False}
    kept, look = seen_when_asked(host, root)
    script = [("spawn_subagent", task), look[0], look[0]]
    done = host.ask(root, LEDGER[0], "--always-approve", script=script)
    # Grok asks once or twice more, whichever of the two is ready first.
    asked = done.stdout.endswith(f"{ANSWER}\n") and kept
    holds(
        f"a sub-agent ({kind}) does not clear its parent's entry",
        asked and all(LEDGER[1] in one for one in kept),
        kept,
    )
    holds(f"a sub-agent ({kind}) adds nothing to it", LOGIN[1] not in "".join(kept))
    times = pointers(host.model.requests[1])
    holds(f"a sub-agent ({kind}) is shown the pointer once", times == 1, "it is told to leave it")


def test_a_sub_agent_that_goes_on(host, holds):
    root = host.make_project()
    kept, (look,) = seen_when_asked(host, root)

    def resume(request):
        number = re.search(r"subagent_id: (\S+)", tool_results(request)[-1])[1]
        return "spawn_subagent", task | {"resume_from": number}

    task = {"prompt": LOGIN[0], "description": "look", "background": False}
    task["subagent_type"] = "general-purpose"
    script = [("spawn_subagent", task), look, resume, look, look]
    done = host.ask(root, LEDGER[0], "--always-approve", script=script)
    asked = done.stdout.endswith(f"{ANSWER}\n") and len(kept) > 1
    untouched = all(LEDGER[1] in entry and LOGIN[1] not in entry for entry in kept)
    holds("nor does a sub-agent that is resumed change it", asked and untouched, kept)


def test_in_a_folder_below_a_repository(host, holds):
    root = host.make_project()
    below = root / "packages" / "paths"
    below.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", root], env=host.environment, check=True)
    host.ask(below, LEDGER[0], script=obey())
    request = host.model.requests[-1]
    holds(
        "the entry is that of the folder it was started in", workspace_path(request) == str(below)
    )
    holds("its capsule is the repository's", LEDGER[1] in looked_up(request))
    holds("the index has that one entry", list(host.index()) == [str(below)])


@pytest.mark.parametrize("name", ["with space", "it's", "`tick`", "한글 폴더", "a<b>&$HOME"])
def test_paths_of_any_kind(host, holds, name):
    root = host.make_project(name)
    host.ask(root, LEDGER[0], script=obey())
    found = len(host.model.requests) == 3 and LEDGER[1] in looked_up(host.model.requests[-1])
    holds(
        f"a workspace called {name!r} is found by the path that the model sees",
        found,
        host.trouble(),
    )


ROUNDS = 20


def test_two_workspaces_at_once(host, holds):
    roots = [host.make_project(f"project{n}") for n in range(2)]
    listed, own, others = [], [], []
    with host.session(roots[0]) as here, host.session(roots[1]) as there:
        for number in range(ROUNDS):
            shutil.rmtree(host.home / CACHE, ignore_errors=True)  # so that both write the index
            told = (LEDGER, LOGIN) if number % 2 else (LOGIN, LEDGER)
            with ThreadPoolExecutor() as pool:
                list(pool.map(lambda send, one: send(one[0]), (here, there), told))
            listed.append(set(host.index()) == set(map(str, roots)))
            pairs = list(zip(map(host.entry, roots), told, reversed(told), strict=True))
            own.append(all(mine[1] in entry for entry, mine, _ in pairs))
            others.append(any(other[1] in entry for entry, _, other in pairs))
    times = f"{ROUNDS} times at once"
    holds(f"two sessions, {times}: the index lists both workspaces", all(listed), listed)
    holds(f"two sessions, {times}: each finds its own capsule", all(own), own)
    holds(f"two sessions, {times}: and never the other's", not any(others), others)


def test_a_folder_without_memory(host, holds):
    folder = host.home / "elsewhere"
    folder.mkdir()
    done = host.ask(folder, LEDGER[0], script=obey())
    holds("the index can be read where nothing is known", tool_results(host.model.requests[-1]))
    holds("a folder without memory gets no entry", answered(done) and host.index() == {})


def test_verbatim_prompts(host, holds):
    root = host.make_project()
    host.ask(root, LEDGER[0], "--verbatim", script=obey())
    holds("a --verbatim prompt is recalled for", LEDGER[1] in looked_up(host.model.requests[-1]))


def test_memory_that_is_off(host, holds):
    root = host.make_project()
    host.ask(root, LEDGER[0])
    before = host.entry(root)
    host.variables["AGENTLAS_MEMORY"] = "off"
    host.ask(root, LEDGER[0])
    after = host.entry(root)
    holds("AGENTLAS_MEMORY=off empties the entry", LEDGER[1] in before and LEDGER[1] not in after)


def test_another_grok_home(bare_host, holds):
    bare_host.variables["GROK_HOME"] = str(bare_host.home / "another")
    bare_host.configure()
    bare_host.install()
    root = bare_host.make_project()
    bare_host.ask(root, LEDGER[0], script=obey())
    holds("GROK_HOME is honoured", LEDGER[1] in looked_up(bare_host.model.requests[-1]))


def test_a_home_that_must_be_quoted(bare_host, holds):
    bare_host.home = bare_host.home / "it's a $HOME"
    bare_host.configure()
    bare_host.install()
    root = bare_host.make_project()
    bare_host.ask(root, LEDGER[0], script=obey())
    found = looked_up(bare_host.model.requests[-1])
    holds(
        "a home with a space, an apostrophe and a variable's name works", LEDGER[1] in found, found
    )


def test_claudes_hook_run_by_grok(host, holds):
    root = host.make_project()
    command = (
        f"'{host.place.hook}' --host claude --event UserPromptSubmit; echo $? > '{host.home}/ran'"
    )
    entry = {"hooks": [{"type": "command", "command": command}]}
    settings = host.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": {"UserPromptSubmit": [entry]}}))
    done = host.ask(root, LEDGER[0], script=obey())
    ran = read(host.home / "ran").strip() == "0"
    receipts = [json.loads(read(p))["host"] for p in host.home.glob(".agentlas/state/last/*.json")]
    left = not list(host.home.glob(".agentlas/state/delivery/claude-*")) and receipts == ["grok"]
    holds(
        "Claude's hook leaves silently when Grok runs it", answered(done) and ran and left, receipts
    )
    holds(
        "and Grok's own hook serves all the same", LEDGER[1] in looked_up(host.model.requests[-1])
    )


HOOKS = TROUBLES | {
    "refusing the prompt": "echo no >&2; exit 2",
    "printing three megabytes": "head -c 3000000 /dev/zero",
    "no program": "\x7fELF and nothing else",
}


@pytest.mark.parametrize("trouble", HOOKS)
def test_a_hook_in_trouble(host, holds, trouble):
    root = host.make_project()
    host.replace_hook(HOOKS[trouble], opening="" if trouble == "no program" else "#!/bin/sh\n")
    done = host.ask(root, LEDGER[0])
    shown = done.stdout + done.stderr
    holds(f"with the hook {trouble} the turn goes on and shows nothing", answered(done), shown)


def test_a_slow_hook(host, holds):
    root = host.make_project()
    pids = host.home / "pids"
    host.replace_hook(f"echo $$ >> '{pids}'\nexec sleep 60\n")
    started = time.monotonic()
    done = host.ask(root, LEDGER[0])
    seconds = time.monotonic() - started
    holds("with the hook slow the turn goes on", answered(done), done.stderr)
    holds("each event waits for 5 seconds at most", 8 < seconds < 40, f"{seconds:.1f} s")
    pids = read(pids).split()
    holds("no slow hook is left behind", len(pids) == 2 and all_end(pids, 2), pids)


def test_a_run_that_we_started(host, holds):
    root = host.make_project()
    host.variables[CHILD_VARIABLE] = "1"
    done = host.ask(root, LEDGER[0])
    holds("a run that inherits our mark is told nothing", answered(done) and host.index() == {})


def test_the_delay(host, holds):
    root = host.make_project()
    host.ask(root, LEDGER[0])  # the first run of a home prepares it
    runs = [first_request(host, root) for _ in range(5)]
    host.uninstall()  # the pointer goes too, so that it is the whole difference
    bare = [first_request(host, root) for _ in range(5)]
    delay = sorted(runs)[2] - sorted(bare)[2]
    holds(
        "the hooks delay a session's first request by little", delay < 2, f"{delay * 1000:.0f} ms"
    )


def first_request(host, root):
    started = time.time()
    host.ask(root, LEDGER[0])
    return host.model.times[0] - started


def test_grok_sees_our_hooks(host, holds):
    root = host.make_project()
    command = [host.program, "inspect", "--json"]
    done = subprocess.run(
        command, cwd=root, env=host.environment, capture_output=True, text=True, timeout=60
    )
    shown = json.dumps(json.loads(done.stdout))
    holds("`grok inspect` lists the hooks", shown.count("--host grok --event") >= 2)


NOT_APPLICABLE = {
    "the capsule is in the prompt's own request": "Grok passes nothing of a hook's output on",
    "a compaction or a clear is an event of its own": "SessionStart knows new and load alone",
    "a capsule is delivered once in a session": "it lies in a file, which each prompt replaces",
    "the hook runs without a console window on Windows": "no Windows build was at hand",
}


@pytest.mark.parametrize("sentence", NOT_APPLICABLE)
def test_what_is_not_checked_here(not_applicable, sentence):
    not_applicable(sentence, NOT_APPLICABLE[sentence])


@pytest.fixture
def used(bare_host):
    """Grok in a home of somebody who has settings of their own, and has used it."""
    bare_host.configure()
    theirs = {"AGENTS.md": "# Mine\n\nUse tabs.", "hooks/mine.json": '{"hooks": {}}\n'}
    write_files(bare_host.grok_home, theirs)
    bare_host.ask(bare_host.make_project(), SILENT)
    return bare_host


def test_again_is_the_same(used, holds):
    check_second_install(used, holds)


def test_uninstall_without_a_session(used, holds):
    check_uninstall(used, holds)


SETTINGS = (".grok/AGENTS.md", ".grok/hooks", ".grok/rules", ".grok/config.toml")


def test_uninstall_after_a_session(used, holds):
    before = files_in(used.home)
    used.install()
    used.ask(used.home / "project", LEDGER[0], script=obey())
    assert LEDGER[1] in looked_up(used.model.requests[-1])
    left = used.uninstall()["left"]
    after = files_in(used.home)
    settings = [name for name in changed(before, after) if name.startswith(SETTINGS)]
    holds("a session between them changes no setting", settings == [], settings)
    known = ("project/", ".grok/sessions/")  # the person's own project, and what was said
    named = [name for name in that_name_us(after) if not name.startswith(known)]
    holds("after `uninstall` the host's own record of sessions alone names us", named == [], named)
    check_left(used, holds, left)
    used.ask(used.home / "project", LEDGER[0])
    holds("after `uninstall` the model is told nothing", pointers(used.model.requests[0]) == 0)
