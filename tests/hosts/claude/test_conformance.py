"""The real Claude Code: what of ours stands in the request that its model gets."""

import json

import pytest
from hosts.checks import check_our_own_run, check_slow_hook, check_trouble
from hosts.claude.model_server import texts_of
from hosts.model_server import ANSWER
from hosts.scene import (
    FACT,
    LONG_QUESTION,
    QUESTION,
    TROUBLES,
    changed,
    files_in,
    long_documents,
    that_name_us,
    write_files,
)
from hosts.terminal import terminal

pytestmark = [pytest.mark.conformance, pytest.mark.slow]


@pytest.mark.parametrize(("model", "role"), [("haiku", "user"), ("opus", "system")])
def test_a_first_prompt(claude, holds, model, role):
    claude.ask(QUESTION, model=model)
    roles = [m["role"] for m in claude.model.requests[0]["messages"] if FACT in str(m["content"])]
    holds(f"the capsule and the rules stand once ({model})", claude.counts() == (1, 1), roles)
    holds(f"its bytes are the hook's ({model})", claude.told()[-1] == claude.ask_raw(QUESTION))
    system = texts_of([{"content": claude.model.requests[0]["system"]}])
    holds(f"nothing of it is in the system prompt ({model})", FACT not in "".join(system))
    holds(f"it is in a {role} message ({model})", roles == [role], roles)


def test_a_prompt_that_nothing_bears_on(claude, holds):
    claude.ask("thanks, that will be all")
    holds("a prompt that nothing bears on adds nothing", claude.counts() == (0, 1), claude.counts())


def test_more_turns(claude, holds):
    claude.ask(QUESTION, "and again: " + QUESTION)
    holds("a capsule is told once in a session", claude.counts() == (1, 1), claude.counts())


def test_resume(claude, holds):
    session = claude.ask(QUESTION)
    assert claude.ask(QUESTION, session=session) == session
    holds("a resumed session keeps what it has", claude.counts() == (1, 1), claude.counts())


def test_compaction(claude, holds):
    session = claude.ask(QUESTION, "thanks", "one more thing")
    assert claude.ask("/compact", session=session) == session
    claude.ask("go on", session=session)
    holds("after /compact the rules are told again", claude.counts() == (0, 1), claude.counts())
    claude.ask(QUESTION, session=session)
    holds("and the capsule when it is asked for", claude.counts() == (1, 1), claude.counts())


def test_clear(claude, holds):
    session = claude.ask(QUESTION)
    cleared = claude.ask("/clear", QUESTION, session=session)
    holds("after /clear all is told anew", claude.counts() == (1, 1), claude.counts())
    assert cleared != session


def test_a_sub_agent(claude, holds):
    task = {"description": "look", "prompt": f"SUB-JOB {QUESTION}"}
    task |= {"subagent_type": "general-purpose", "run_in_background": False}
    claude.model.rules["DELEGATE"] = {"name": "Agent", "input": task}
    claude.ask("DELEGATE this")
    [sub] = [n for n, r in enumerate(claude.model.requests) if "SUB-JOB" in str(r["messages"][0])]
    holds("a sub-agent is told nothing", claude.told(sub) == [], claude.told(sub))


def test_a_slash_command(claude, holds):
    commands = claude.project / ".claude/commands"
    commands.mkdir(parents=True)
    (commands / "explain.md").write_text("Explain this: $ARGUMENTS\n")
    claude.ask(f"/explain {QUESTION}")
    holds("a slash command's words are a prompt", claude.counts() == (1, 1), claude.counts())


def test_the_largest_capsule(claude, holds):
    claude.make_known(claude.project, long_documents())
    claude.ask(LONG_QUESTION)
    told = claude.told()[-1]
    size = len(told.encode())
    whole = told == claude.ask_raw(LONG_QUESTION)
    holds("a capsule of 8,500 to 9,000 bytes arrives whole", whole, size)
    assert 8500 < size <= 9000


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_hook_in_trouble(claude, holds, trouble):
    check_trouble(claude, holds, trouble)


def test_a_slow_hook(claude, holds):
    check_slow_hook(claude, holds)


def test_a_run_that_we_started(claude, holds):
    check_our_own_run(claude, holds)


def test_the_screen(claude, holds, tmp_path):
    skip_the_welcome(claude)
    with terminal(claude, tmp_path) as screen:
        screen.wait(lambda: claude.project.name in screen.screen())
        for number, script in enumerate(("exec cat >/dev/null", None, "kill -9 $$", "exit 2")):
            claude.replace_hook(script)
            screen.type(f"turn {number}")
            screen.wait(lambda n=number: screen.screen().count(ANSWER) > n)
            silent = "hook" not in screen.screen().lower()
            holds(f"the screen shows nothing of a hook that is {script}", silent, screen.screen())


def skip_the_welcome(claude):
    """Answer what the program asks of a new person."""
    file = claude.home / ".claude.json"
    projects = {str(claude.project): {"hasTrustDialogAccepted": True}}
    answers = {"hasCompletedOnboarding": True, "theme": "dark", "projects": projects}
    answers["customApiKeyResponses"] = {"approved": ["dummy"], "rejected": []}
    file.write_text(json.dumps(json.loads(file.read_text()) | answers))


def test_the_manifests(claude, holds):
    for folder in (claude.place.marketplace, plugin_of(claude)):
        said = claude.run("plugin", "validate", "--strict", str(folder))
        holds(f"`plugin validate --strict` finds nothing ({folder.name})", "passed" in said, said)


def plugin_of(claude):
    return claude.place.marketplace / "plugins/agentlas-memory"


def test_again_is_the_same(claude, holds):
    settings = claude.home / ".claude/settings.json"
    before = json.loads(settings.read_bytes())  # the host itself puts keys in another order
    claude.install()
    claude.ask(QUESTION)
    after = json.loads(settings.read_bytes())
    holds("a second installation changes nothing", after == before, after)
    holds("and the capsule stays one", claude.counts() == (1, 1), claude.counts())


def test_a_home_of_another_name(bare, holds, tmp_path):
    folder = tmp_path / "elsewhere"
    bare.variables["CLAUDE_CONFIG_DIR"] = str(folder)
    bare.install()
    bare.ask(QUESTION)
    holds("CLAUDE_CONFIG_DIR is honoured", bare.counts() == (1, 1), bare.counts())
    assert "agentlas" in (folder / "settings.json").read_text()


# What Claude's own commands leave: tables and folders that are empty now.
EMPTY_TABLES = {"enabledPlugins": {}, "extraKnownMarketplaces": {}}
EMPTIED = {
    ".claude/settings.json": EMPTY_TABLES,
    ".claude/plugins/installed_plugins.json": {"version": 2, "plugins": {}},
    ".claude/plugins/known_marketplaces.json": {},
}


def test_uninstall_without_a_session(bare, holds):
    write_files(bare.home, {".claude/settings.json": '{ "cleanupPeriodDays": 99 }'})
    bare.ask(QUESTION)
    before = files_in(bare.home)
    bare.install()
    left = bare.uninstall()["left"]
    after = files_in(bare.home)
    named = [str(bare.home / name) for name in that_name_us(after)]
    holds(
        "no file of the home names us, or `uninstall` lists it",
        named == sorted(left),
        (named, left),
    )
    new = [name for name in changed(before, after) if after[name][1] is not None]
    holds("what differs is empty tables of Claude's own", new == sorted(EMPTIED), new)
    tables = {name: json.loads(after[name][1]) for name in EMPTIED}
    mine = tables[".claude/settings.json"].pop("cleanupPeriodDays")
    holds("and its settings keep what was in them", (mine, tables) == (99, EMPTIED), tables)
    bare.install()
    bare.uninstall()
    again = changed(after, files_in(bare.home))
    holds("a second time the whole home is as before, byte for byte", again == [], again)


def test_uninstall_after_sessions(bare, holds):
    bare.install()
    bare.install()
    bare.ask(QUESTION)
    holds("after `install`, twice, it is heard once", bare.counts() == (1, 1), bare.counts())
    left = bare.uninstall()["left"]
    named = that_name_us(files_in(bare.home))
    others = [str(bare.home / name) for name in named if "/projects/" not in name]
    listed = sorted(left) == sorted([*others, str(bare.home / ".claude/projects")])
    holds("`uninstall` lists all that names us, transcripts as one folder", listed, (named, left))
    bare.ask(QUESTION)
    holds("after `uninstall` the model is told nothing", bare.told() == [], bare.told())
    assert not bare.place.marketplace.exists()


NOT_APPLICABLE = {
    "a compaction that the host begins by itself": "`-p` began none at a reported 190,000 tokens;"
    " the event is that of /compact",
    "Windows": "the commands are rendered and tested as text",
}


@pytest.mark.parametrize("sentence", NOT_APPLICABLE)
def test_what_is_not_checked_here(not_applicable, sentence):
    not_applicable(sentence, NOT_APPLICABLE[sentence])
