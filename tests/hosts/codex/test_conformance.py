"""The real Codex: what of ours stands in the request that its model gets."""

import json
import os
import shutil
import sys
import time

import pytest
from hosts.codex.model_server import ANSWER, items_of
from hosts.scene import (
    FACT,
    LONG_QUESTION,
    QUESTION,
    RULE,
    files_below,
    is_sleeping,
    leftovers,
    write_long_documents,
)
from hosts.terminal import terminal

from agentlas_memory.capsule import TAG
from agentlas_memory.host_adapters.codex.install_spec import SPEC
from agentlas_memory.installer.codex_trust import forget_trust, read_trust

pytestmark = [pytest.mark.conformance, pytest.mark.slow]


def counts(codex):
    """Count the capsules with the fact and those with the rule in the newest request."""
    told = codex.told()
    return sum(FACT in one for one in told), sum(RULE in one for one in told)


def statuses(codex):
    return {hook.status for hook in read_trust(str(codex.program), codex.environment)}


def test_an_untrusted_hook(untrusted, holds):
    untrusted.ask(QUESTION)
    holds("untrusted hooks are silent", counts(untrusted) == (0, 0), untrusted.told())
    holds("Codex says that they are untrusted", statuses(untrusted) == {"untrusted"})
    holds(
        "set_trust makes them trusted", {hook.status for hook in untrusted.trust()} == {"trusted"}
    )
    untrusted.ask(QUESTION)
    holds("and then they are heard", counts(untrusted) == (1, 1), counts(untrusted))


def test_a_first_prompt(codex, holds, raw):
    codex.ask(QUESTION)
    items = items_of(codex.model.requests[0])
    at = items.index(("user", QUESTION))
    holds("the capsule is the developer item after the prompt", items[at + 1][0] == "developer")
    holds(
        "it holds the hook's bytes and nothing else", items[at + 1][1] == raw(QUESTION), items[at:]
    )
    holds("the rules are the developer item before it", RULE in items[at - 1][1], items[at - 1])
    holds("both stand once", counts(codex) == (1, 1), counts(codex))
    holds("not in the instructions", TAG not in codex.model.requests[0].get("instructions", ""))


def test_a_prompt_that_nothing_bears_on(codex, holds):
    codex.ask("thanks, that will be all")
    holds("a prompt that nothing bears on adds nothing", counts(codex) == (0, 1), counts(codex))


def test_more_turns(codex, holds):
    session = codex.ask(QUESTION)
    assert codex.ask("and again: " + QUESTION, session) == session
    holds("a resumed session keeps what it has, once", counts(codex) == (1, 1), counts(codex))


def test_compaction(codex, holds):
    codex.model.tokens = 90_000
    session = codex.ask(QUESTION)
    codex.model.tokens = 100
    codex.ask("go on", session)
    assert len(codex.model.requests) == 3  # the first, the summary's, the next
    holds("after compaction the rules are told again", counts(codex) == (0, 1), counts(codex))
    codex.ask(QUESTION, session)
    holds("and the capsule when it is asked for", counts(codex) == (1, 1), counts(codex))


def test_the_screen(codex, holds, tmp_path):
    trust = f'\n[projects."{codex.scene.project}"]\ntrust_level = "trusted"\n'
    with (codex.folder / "config.toml").open("a") as file:
        file.write(trust)
    with terminal(codex.program, codex.environment, codex.scene.project, tmp_path) as screen:
        screen.wait(lambda: "Ask Codex" in screen.screen())
        screen.type(QUESTION)
        screen.wait(lambda: ANSWER in screen.screen())
        screen.type("/compact")
        screen.wait(lambda: "compacted" in screen.screen())
        told = told_on(screen, codex, "go on")
        holds("after /compact the rules are told again", told == (0, 1), told)
        screen.type("/clear")
        screen.wait(lambda: "go on" not in screen.screen())
        told = told_on(screen, codex, QUESTION)
        holds("after /clear all is told anew", told == (1, 1), told)
        holds("nothing on the screen speaks of hooks", "hook" not in screen.screen().lower())


def told_on(screen, codex, prompt):
    """Type a prompt and count in the request that is for it; another one asks for a title."""
    before = len(codex.model.requests)
    screen.type(prompt)
    found = []
    while not found:
        screen.wait(lambda: len(codex.model.requests) > before)
        new = range(before, len(codex.model.requests))
        found = [n for n in new if ("user", prompt) in items_of(codex.model.requests[n])]
    screen.wait(lambda: ANSWER in screen.screen().rpartition(prompt)[2])
    told = codex.told(found[0])
    return sum(FACT in one for one in told), sum(RULE in one for one in told)


def test_a_sub_agent(codex, holds):
    codex.model.rules["DELEGATE"] = [spawn, wait]
    codex.ask("DELEGATE this")
    texts = [items_of(request) for request in codex.model.requests]
    [sub] = [n for n, items in enumerate(texts) if any("SUB-JOB" in text for _, text in items)]
    holds("a sub-agent is told nothing", codex.told(sub) == [], codex.told(sub))


def spawn(_):
    task = json.dumps({"message": f"SUB-JOB {QUESTION}"})
    return {"namespace": "multi_agent_v1", "name": "spawn_agent", "arguments": task}


def wait(output):
    who = json.dumps({"targets": [json.loads(output)["agent_id"]]})
    return {"namespace": "multi_agent_v1", "name": "wait_agent", "arguments": who}


def test_the_largest_capsule(codex, holds, program, raw, tmp_path):
    write_long_documents(codex.scene, program)
    codex.scene.place.environment["TMPDIR"] = str(tmp_path)
    codex.ask(LONG_QUESTION)
    told = codex.told()[-1]
    size = len(told.encode())
    holds("a capsule of 8,500 to 9,000 bytes arrives whole", told == raw(LONG_QUESTION), size)
    assert 8500 < size <= 9000
    holds("nothing of it is left among temporary files", not (tmp_path / "hook_outputs").exists())


@pytest.mark.parametrize(
    ("what", "script"),
    [
        ("missing", None),
        ("killed", "kill -9 $$"),
        ("failing", "echo trouble >&2; exit 1"),
        ("cut short on the disk", "if ("),
        ("printing garbage", "echo '{\"hookSpecificOutput\": 1'"),
        ("speaking of something else", 'echo \'{"hookSpecificOutput": {"hookEventName": 7}}\''),
    ],
)
def test_a_hook_in_trouble(codex, holds, what, script):
    codex.scene.replace_hook(script)
    codex.ask(QUESTION)
    holds(f"with the hook {what} the turn goes on", codex.answers == [ANSWER], codex.answers)
    assert codex.told() == []


def test_a_slow_hook(codex, holds, tmp_path):
    mark = tmp_path / "started"
    codex.scene.replace_hook(f"echo $$ >> {mark}; exec sleep 60")
    started = time.monotonic()
    codex.ask(QUESTION)
    seconds = time.monotonic() - started
    holds("with the hook slow the turn goes on", codex.answers == [ANSWER], codex.answers)
    holds("each event waits for 5 seconds at most", seconds < 15, f"{seconds:.1f} s")
    holds("no slow hook is left behind", not any(map(is_sleeping, mark.read_text().split())))


def test_a_new_runtime(codex, holds, tmp_path):
    (tmp_path / "newer").symlink_to(sys.prefix)
    current = codex.scene.place.data_home / "runtime/current"
    current.unlink()
    current.symlink_to(tmp_path / "newer")
    codex.ask(QUESTION)
    holds("a new runtime keeps the trust", statuses(codex) == {"trusted"})
    holds("and is heard", counts(codex) == (1, 1), counts(codex))


def test_again_is_the_same(codex, holds):
    before = (codex.folder / "config.toml").read_bytes()
    codex.install()
    codex.ask(QUESTION)
    after = (codex.folder / "config.toml").read_bytes()
    holds("a second installation changes no byte of config.toml", after == before, after)
    holds("it keeps the trust", statuses(codex) == {"trusted"})
    holds("and the capsule stays one", counts(codex) == (1, 1), counts(codex))


def test_a_changed_plugin(codex, holds):
    [copy] = codex.folder.glob("plugins/cache/agentlas/agentlas-memory/*")
    with (copy / "hooks/codex.json").open("a") as file:
        file.write("\n")
    codex.ask(QUESTION)
    holds("one byte more in the plugin and it is silent", codex.told() == [], codex.told())
    holds("Codex says that it is modified", statuses(codex) == {"modified"})
    codex.install()
    codex.trust()
    codex.ask(QUESTION)
    holds("installing and trusting again repairs it", counts(codex) == (1, 1), counts(codex))


def test_a_home_of_another_name(bare, holds, tmp_path):
    folder = tmp_path / "elsewhere"
    bare.folder.rename(folder)
    bare.scene.place.environment["CODEX_HOME"] = str(folder)
    bare.install()
    bare.trust()
    bare.ask(QUESTION)
    holds("CODEX_HOME is honoured", counts(bare) == (1, 1), counts(bare))
    assert SPEC.surfaces(bare.scene.place)[-1].homes == (folder,)
    assert not bare.folder.exists()


def test_uninstall(bare, holds):
    bare.ask(QUESTION)
    before = (bare.folder / "config.toml").read_text()
    bare.install()
    bare.trust()
    bare.ask(QUESTION)
    assert counts(bare) == (1, 1)
    forgotten = forget_trust(str(bare.program), bare.environment)
    holds("forget_trust makes them untrusted", statuses(bare) == {"untrusted"}, forgotten)
    bare.uninstall()
    bare.ask(QUESTION)
    holds("after uninstall the model is told nothing", bare.told() == [], bare.told())
    after = (bare.folder / "config.toml").read_text()
    holds("config.toml is as before, byte for byte", after == before, after)
    for folder in leftovers(SPEC, bare.scene.place):
        shutil.rmtree(folder, ignore_errors=True)
    files = files_below(bare.folder)
    named = [name for name, data in files.items() if b"agentlas" in data or "agentlas" in name]
    mentions = [name for name in named if not name.startswith("sessions" + os.sep)]
    holds("no file of the host names us, but for its own transcripts", mentions == [], mentions)


def test_the_installer(bare, holds, manage):
    bare.ask(QUESTION)
    before = (bare.folder / "config.toml").read_bytes()
    manage("install", "--host", "codex")
    bare.ask(QUESTION)
    holds("`install` alone gives no trust", bare.told() == [], bare.told())
    manage("install", "--host", "codex", "--trust-codex")
    bare.ask(QUESTION)
    holds("`install --trust-codex` and it is heard", counts(bare) == (1, 1), counts(bare))
    [host] = manage("uninstall")["hosts"]
    left = [path for path in host["left"] if f"{os.sep}sessions{os.sep}" not in path]
    holds("`uninstall` leaves our name in transcripts alone", left == [], left)
    after = (bare.folder / "config.toml").read_bytes()
    holds("and config.toml as it was, byte for byte", after == before, after)
    assert not bare.scene.place.marketplace.exists()


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("a forked session", "`codex exec` forks none; the adapter is tested on its event"),
        ("Windows", "the commands are rendered and tested as text"),
    ],
)
def test_what_is_not_checked_here(holds, what, reason):
    holds(what, "n/a", reason)
