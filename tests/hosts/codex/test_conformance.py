"""The real Codex: what of ours stands in the request that its model gets."""

import json
import sys

import pytest
from hosts.checks import check_our_own_run, check_slow_hook, check_trouble
from hosts.codex.model_server import items_of
from hosts.model_server import ANSWER
from hosts.scene import (
    LONG_QUESTION,
    QUESTION,
    RULE,
    TROUBLES,
    changed,
    files_in,
    long_documents,
    that_name_us,
)
from hosts.terminal import terminal

from agentlas_memory.capsule import TAG

pytestmark = [pytest.mark.conformance, pytest.mark.slow]


def test_an_untrusted_hook(bare, holds):
    bare.install()
    bare.ask(QUESTION)
    holds("`install` alone gives no trust: nothing is told", bare.told() == [], bare.told())
    holds("Codex says that our hooks are untrusted", bare.statuses() == {"untrusted"})
    bare.install("--trust-codex")
    holds("`install --trust-codex` makes them trusted", bare.statuses() == {"trusted"})
    bare.ask(QUESTION)
    holds("and then they are heard", bare.counts() == (1, 1), bare.counts())


def test_a_first_prompt(codex, holds):
    codex.ask(QUESTION)
    items = items_of(codex.model.requests[0])
    at = items.index(("user", QUESTION))
    holds("the capsule is the developer item after the prompt", items[at + 1][0] == "developer")
    said = items[at + 1][1]
    holds("it holds the hook's bytes and nothing else", said == codex.ask_raw(QUESTION), said)
    holds("the rules are the developer item before it", RULE in items[at - 1][1], items[at - 1])
    holds("both stand once", codex.counts() == (1, 1), codex.counts())
    holds("not in the instructions", TAG not in codex.model.requests[0].get("instructions", ""))


def test_a_prompt_that_nothing_bears_on(codex, holds):
    codex.ask("thanks, that will be all")
    holds("a prompt that nothing bears on adds nothing", codex.counts() == (0, 1), codex.counts())


def test_more_turns(codex, holds):
    session = codex.ask(QUESTION)
    assert codex.ask("and again: " + QUESTION, session) == session
    holds("a resumed session keeps what it has, once", codex.counts() == (1, 1), codex.counts())


def test_compaction(codex, holds):
    codex.model.tokens = 90_000
    session = codex.ask(QUESTION)
    codex.model.tokens = 100
    codex.ask("go on", session)
    assert len(codex.model.requests) == 3  # the first, the summary's, the next
    holds("after compaction the rules are told again", codex.counts() == (0, 1), codex.counts())
    codex.ask(QUESTION, session)
    holds("and the capsule when it is asked for", codex.counts() == (1, 1), codex.counts())


def test_the_screen(codex, holds, tmp_path):
    trust = f'\n[projects."{codex.project}"]\ntrust_level = "trusted"\n'
    with codex.config.open("a") as file:
        file.write(trust)
    with terminal(codex, tmp_path) as screen:
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
    requests = codex.model.requests
    before = len(requests)
    screen.type(prompt)

    def mine():
        new = range(before, len(requests))
        return [n for n in new if ("user", prompt) in items_of(requests[n])]

    screen.wait(mine)
    # The line at the bottom may repeat it.
    screen.wait(lambda: ANSWER in screen.screen().partition(prompt)[2])
    return codex.counts(mine()[0])


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


def test_the_largest_capsule(codex, holds, tmp_path):
    codex.make_known(codex.project, long_documents())
    codex.variables["TMPDIR"] = str(tmp_path)
    codex.ask(LONG_QUESTION)
    told = codex.told()[-1]
    size = len(told.encode())
    whole = told == codex.ask_raw(LONG_QUESTION)
    holds("a capsule of 8,500 to 9,000 bytes arrives whole", whole, size)
    assert 8500 < size <= 9000
    holds("nothing of it is left among temporary files", not (tmp_path / "hook_outputs").exists())


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_hook_in_trouble(codex, holds, trouble):
    check_trouble(codex, holds, trouble)


def test_a_slow_hook(codex, holds):
    check_slow_hook(codex, holds)


def test_a_run_that_we_started(codex, holds):
    check_our_own_run(codex, holds)


def test_a_new_runtime(codex, holds, tmp_path):
    (tmp_path / "newer").symlink_to(sys.prefix)
    current = codex.place.data_home / "runtime/current"
    current.unlink()
    current.symlink_to(tmp_path / "newer")
    codex.ask(QUESTION)
    holds("a new runtime keeps the trust", codex.statuses() == {"trusted"})
    holds("and is heard", codex.counts() == (1, 1), codex.counts())


def test_again_is_the_same(codex, holds):
    before = codex.config.read_bytes()
    codex.install()
    codex.ask(QUESTION)
    after = codex.config.read_bytes()
    holds("a second installation changes no byte of config.toml", after == before, after)
    holds("it keeps the trust", codex.statuses() == {"trusted"})
    holds("and the capsule stays one", codex.counts() == (1, 1), codex.counts())


def test_a_changed_plugin(codex, holds):
    [copy] = codex.folder.glob("plugins/cache/agentlas/agentlas-memory/*")
    with (copy / "hooks/codex.json").open("a") as file:
        file.write("\n")
    codex.ask(QUESTION)
    holds("one byte more in the plugin and it is silent", codex.told() == [], codex.told())
    holds("Codex says that it is modified", codex.statuses() == {"modified"})
    codex.uninstall()
    codex.install("--trust-codex")
    codex.ask(QUESTION)
    holds("installing and trusting it anew repairs it", codex.counts() == (1, 1), codex.counts())


def test_a_home_of_another_name(bare, holds, tmp_path):
    folder = tmp_path / "elsewhere"
    bare.folder.rename(folder)
    bare.variables["CODEX_HOME"] = str(folder)
    bare.install("--trust-codex")
    bare.ask(QUESTION)
    holds("CODEX_HOME is honoured", bare.counts() == (1, 1), bare.counts())
    assert not bare.folder.exists()


def test_uninstall_without_a_session(bare, holds):
    bare.ask(QUESTION)
    before = files_in(bare.home)
    bare.install("--trust-codex")
    left = bare.uninstall()["left"]
    after = files_in(bare.home)
    named = [str(bare.home / name) for name in that_name_us(after)]
    holds(
        "no file of the home names us, or `uninstall` lists it",
        named == sorted(left),
        (named, left),
    )
    holds("config.toml is as before, byte for byte", same_bytes(before, after, CONFIG))
    theirs = [name for name in changed(before, after) if not is_runtime(name, after)]
    holds("nothing else differs but what Codex itself keeps while it runs", theirs == [], theirs)


CONFIG = ".codex/config.toml"


def same_bytes(before, after, name):
    return before[name][1] == after[name][1]


def is_runtime(name, after):
    """Tell whether it is of Codex's own: a database, what it unpacks, a mode that it narrows."""
    folders = (".codex/.tmp", ".codex/.hook-trust", ".codex/skills", ".codex/plugins")
    narrowed = name == CONFIG and after[name][0] == 0o600
    return narrowed or ".sqlite" in name or name.startswith(folders)


def test_uninstall_after_sessions(bare, holds):
    before = bare.config.read_bytes()
    bare.install("--trust-codex")
    bare.ask(QUESTION)
    assert bare.counts() == (1, 1)
    left = bare.uninstall()["left"]
    named = that_name_us(files_in(bare.home))
    others = [str(bare.home / name) for name in named if "/sessions/" not in name]
    listed = sorted(left) == sorted([*others, str(bare.home / ".codex/sessions")])
    holds("`uninstall` lists all that names us, transcripts as one folder", listed, (named, left))
    after = bare.config.read_bytes()
    holds("and config.toml is as it was, byte for byte", after == before, after)
    bare.ask(QUESTION)
    holds("after `uninstall` the model is told nothing", bare.told() == [], bare.told())
    assert not bare.place.marketplace.exists()


NOT_APPLICABLE = {
    "a forked session": "`codex exec` forks none; the adapter is tested on its event",
    "Windows": "the commands are rendered and tested as text",
}


@pytest.mark.parametrize("sentence", NOT_APPLICABLE)
def test_what_is_not_checked_here(not_applicable, sentence):
    not_applicable(sentence, NOT_APPLICABLE[sentence])
