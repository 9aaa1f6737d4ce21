"""Grok itself, against a model on loopback: what arrives in its requests, and when."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from hosts.grok.conftest import LEDGER, LOGIN, SILENT, body, read
from hosts.grok.model_server import LAST_WORD
from hosts.grok.obedient import obey, texts, tool_results, workspace_path

from agentlas_memory.host_adapters.grok.install_spec import SPEC

pytestmark = [pytest.mark.conformance, pytest.mark.slow]


@pytest.fixture
def holds(check):
    """Record a check of this host."""
    return lambda sentence, fact, detail="": check("grok", SPEC.verified, sentence, fact, detail)


def pointer_of(host):
    return body(SPEC.surfaces(host.place)[0])


def answered(done):
    return (done.returncode, done.stdout.strip(), done.stderr) == (0, LAST_WORD, "")


def looked_up(request):
    """Return the entry that the model read last in a request's history."""
    return tool_results(request)[-1]


def seen_when_asked(host, workspace):
    """Return a script whose first answer keeps the entry as it is when the request arrives."""
    kept = []

    def look(_request):
        kept.append(host.entry(workspace))
        return LAST_WORD

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
    asked = done.stdout.endswith(f"{LAST_WORD}\n") and len(kept) == 2
    holds(
        f"a sub-agent ({kind}) does not clear its parent's entry",
        asked and LEDGER[1] in kept[0],
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
    asked = done.stdout.endswith(f"{LAST_WORD}\n") and len(kept) == 3
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


def test_two_workspaces_at_once(host, holds):
    roots = [host.make_project(f"project{n}") for n in range(2)]
    host.model.start()
    pairs = list(zip(roots, (LEDGER, LOGIN), strict=True))
    runs = [
        subprocess.Popen(
            [host.program, "-p", told[0]], cwd=root, env=host.environment, stdin=-3, stdout=-3
        )
        for root, told in pairs
    ]
    holds("two sessions at once are answered", [run.wait(60) for run in runs] == [0, 0])
    holds("the index lists both workspaces", set(host.index()) == set(map(str, roots)))
    own = [told[1] in host.entry(root) for root, told in pairs]
    other = [pairs[1 - n][1][1] in host.entry(roots[n]) for n in range(2)]
    holds("each holds its own capsule and not the other's", all(own) and not any(other))


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
    command = f"{host.place.hook} --host claude --event UserPromptSubmit; echo $? > {host.home}/ran"
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


HOOKS = {
    "missing": None,
    "killed": "#!/bin/sh\nkill -9 $$\n",
    "failing": "#!/bin/sh\necho no >&2\nexit 2\n",
    "printing garbage": "#!/bin/sh\nhead -c 3000000 /dev/zero\n",
    "no program": "\x7fELF and nothing else",
}


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_that_does_not_work(host, holds, name):
    root = host.make_project()
    replace_hook(host, HOOKS[name])
    done = host.ask(root, LEDGER[0])
    holds(f"a hook that is {name} costs no answer and is not seen", answered(done), done.stderr)


def replace_hook(host, text):
    host.place.hook.unlink()
    if text is not None:
        host.place.hook.write_text(text)
        host.place.hook.chmod(0o755)


def test_a_slow_hook(host, holds):
    root = host.make_project()
    replace_hook(host, f"#!/bin/sh\necho $$ >> {host.home}/pids\nexec sleep 30\n")
    started = time.monotonic()
    done = host.ask(root, LEDGER[0])
    seconds = time.monotonic() - started
    holds("a hook that hangs is cut off", answered(done) and 8 < seconds < 16, f"{seconds:.1f} s")
    pids = read(host.home / "pids").split()
    holds("and is really ended", len(pids) == 2 and not any(map(alive, pids)), pids)


def alive(pid):
    return Path(f"/proc/{pid}").exists() if os.path.isdir("/proc/1") else is_running(int(pid))


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_delay(host, holds):
    root = host.make_project()
    host.ask(root, LEDGER[0])  # the first run of a home prepares it
    runs = [first_request(host, root) for _ in range(5)]
    host.uninstall()
    bare = [first_request(host, root) for _ in range(5)]
    delay = sorted(runs)[2] - sorted(bare)[2]
    holds(
        "the hooks delay a session's first request by little", delay < 0.5, f"{delay * 1000:.0f} ms"
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
def test_what_cannot_be_checked(holds, sentence):
    holds(sentence, "n/a", NOT_APPLICABLE[sentence])


OURS_AND_THEIRS = ("AGENTS.md", "hooks", "rules", "config.toml")


def test_nothing_is_left_in_the_home(bare_host, holds):
    bare_host.configure()
    (bare_host.grok_home / "AGENTS.md").write_text("# Mine\n\nUse tabs.\n")
    (bare_host.grok_home / "hooks").mkdir()
    (bare_host.grok_home / "hooks" / "mine.json").write_text('{"hooks": {}}\n')
    root = bare_host.make_project()
    bare_host.ask(root, SILENT)
    before = contents(bare_host.grok_home)
    bare_host.install()
    bare_host.uninstall()
    holds(
        "install and uninstall leave Grok's folder byte for byte",
        contents(bare_host.grok_home) == before,
    )
    bare_host.install()
    bare_host.ask(root, LEDGER[0], script=obey())
    bare_host.uninstall()
    after = {p: d for p, d in contents(bare_host.grok_home).items() if p in before}
    changed = {p for p in after if after[p] != before[p] and p.parts[0] in OURS_AND_THEIRS}
    added = {
        p
        for p in contents(bare_host.grok_home).keys() - before.keys()
        if p.parts[0] in OURS_AND_THEIRS
    }
    holds(
        "nor does a session between them change a setting",
        not changed and not added,
        changed | added,
    )


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
