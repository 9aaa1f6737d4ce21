"""The real Claude Code: what of ours stands in the request that its model gets."""

import json
import shutil
import time

import pytest
from hosts.claude.model_server import ANSWER, texts_of
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

from agentlas_memory.host_adapters.claude.install_spec import SPEC

pytestmark = [pytest.mark.conformance, pytest.mark.slow]


def counts(claude):
    """Count the capsules with the fact and those with the rule in the newest request."""
    told = claude.told()
    return sum(FACT in one for one in told), sum(RULE in one for one in told)


@pytest.mark.parametrize(("model", "role"), [("haiku", "user"), ("opus", "system")])
def test_a_first_prompt(claude, holds, raw, model, role):
    claude.ask(QUESTION, model=model)
    roles = [m["role"] for m in claude.model.requests[0]["messages"] if FACT in str(m["content"])]
    holds(f"the capsule stands once, in a {role} message", roles == [role], roles)
    holds(f"the project's rules stand once ({role})", counts(claude) == (1, 1), counts(claude))
    holds(f"its bytes are the hook's ({role})", claude.told()[-1] == raw(QUESTION))
    system = texts_of([{"content": claude.model.requests[0]["system"]}])
    holds(f"nothing of it is in the system prompt ({role})", FACT not in "".join(system))


def test_a_prompt_that_nothing_bears_on(claude, holds):
    claude.ask("thanks, that will be all")
    holds("a prompt that nothing bears on adds nothing", counts(claude) == (0, 1), counts(claude))


def test_more_turns(claude, holds):
    claude.ask(QUESTION, "and again: " + QUESTION)
    holds("a capsule is told once in a session", counts(claude) == (1, 1), counts(claude))


def test_resume(claude, holds):
    session = claude.ask(QUESTION)
    assert claude.ask(QUESTION, session=session) == session
    holds("a resumed session keeps what it has", counts(claude) == (1, 1), counts(claude))


def test_compaction(claude, holds):
    session = claude.ask(QUESTION, "thanks", "one more thing")
    assert claude.ask("/compact", session=session) == session
    claude.ask("go on", session=session)
    holds("after /compact the rules are told again", counts(claude) == (0, 1), counts(claude))
    claude.ask(QUESTION, session=session)
    holds("and the capsule when it is asked for", counts(claude) == (1, 1), counts(claude))


def test_clear(claude, holds):
    session = claude.ask(QUESTION)
    cleared = claude.ask("/clear", QUESTION, session=session)
    holds("after /clear all is told anew", counts(claude) == (1, 1), counts(claude))
    assert cleared != session


def test_a_sub_agent(claude, holds):
    task = {"description": "look", "prompt": f"SUB-JOB {QUESTION}"}
    task |= {"subagent_type": "general-purpose", "run_in_background": False}
    claude.model.rules["DELEGATE"] = {"name": "Agent", "input": task}
    claude.ask("DELEGATE this")
    [sub] = [n for n, r in enumerate(claude.model.requests) if "SUB-JOB" in str(r["messages"][0])]
    holds("a sub-agent is told nothing", claude.told(sub) == [], claude.told(sub))


def test_a_slash_command(claude, holds):
    commands = claude.scene.project / ".claude/commands"
    commands.mkdir(parents=True)
    (commands / "explain.md").write_text("Explain this: $ARGUMENTS\n")
    claude.ask(f"/explain {QUESTION}")
    holds("a slash command's words are a prompt", counts(claude) == (1, 1), counts(claude))


def test_the_largest_capsule(claude, holds, program, raw):
    write_long_documents(claude.scene, program)
    claude.ask(LONG_QUESTION)
    told = claude.told()[-1]
    size = len(told.encode())
    holds("a capsule of 8,500 to 9,000 bytes arrives whole", told == raw(LONG_QUESTION), size)
    assert 8500 < size <= 9000


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
def test_a_hook_in_trouble(claude, holds, what, script):
    claude.scene.replace_hook(script)
    claude.ask(QUESTION)
    holds(f"with the hook {what} the turn goes on", claude.results == [ANSWER], claude.results)
    assert claude.told() == []


def test_a_slow_hook(claude, holds, tmp_path):
    mark = tmp_path / "started"
    claude.scene.replace_hook(f"echo $$ >> {mark}; exec sleep 60")
    started = time.monotonic()
    claude.ask(QUESTION)
    seconds = time.monotonic() - started
    holds("with the hook slow the turn goes on", claude.results == [ANSWER], claude.results)
    holds("each event waits for 5 seconds at most", seconds < 15, f"{seconds:.1f} s")
    holds("no slow hook is left behind", not any(map(is_sleeping, mark.read_text().split())))


def test_the_screen(claude, holds, tmp_path):
    skip_the_welcome(claude)
    with terminal(claude.program, claude.environment, claude.scene.project, tmp_path) as screen:
        screen.wait(lambda: "for shortcuts" in screen.screen())
        for number, script in enumerate(("exec cat >/dev/null", None, "kill -9 $$", "exit 2")):
            claude.scene.replace_hook(script)
            screen.type(f"turn {number}")
            screen.wait(lambda n=number: screen.screen().count(ANSWER) > n)
            silent = "hook" not in screen.screen().lower()
            holds(f"the screen shows nothing of a hook that is {script}", silent, screen.screen())


def skip_the_welcome(claude):
    """Answer what the program asks of a new person."""
    file = claude.scene.home / ".claude.json"
    projects = {str(claude.scene.project): {"hasTrustDialogAccepted": True}}
    answers = {"hasCompletedOnboarding": True, "theme": "dark", "projects": projects}
    answers["customApiKeyResponses"] = {"approved": ["dummy"], "rejected": []}
    file.write_text(json.dumps(json.loads(file.read_text()) | answers))


def test_the_manifests(claude, holds):
    for folder in (claude.scene.place.marketplace, plugin_of(claude)):
        said = claude.run("plugin", "validate", "--strict", str(folder))
        holds(f"`plugin validate --strict` finds nothing ({folder.name})", "passed" in said, said)


def plugin_of(claude):
    return claude.scene.place.marketplace / "plugins/agentlas-memory"


def test_again_is_the_same(claude, holds):
    settings = claude.scene.home / ".claude/settings.json"
    before = json.loads(settings.read_bytes())  # the host itself puts keys in another order
    claude.install()
    claude.ask(QUESTION)
    after = json.loads(settings.read_bytes())
    holds("a second installation changes nothing", after == before, after)
    holds("and the capsule stays one", counts(claude) == (1, 1), counts(claude))


def test_a_home_of_another_name(bare, holds, tmp_path):
    folder = tmp_path / "elsewhere"
    bare.scene.place.environment["CLAUDE_CONFIG_DIR"] = str(folder)
    bare.install()
    bare.ask(QUESTION)
    holds("CLAUDE_CONFIG_DIR is honoured", counts(bare) == (1, 1), counts(bare))
    assert SPEC.surfaces(bare.scene.place)[-1].homes == (folder,)
    assert "agentlas" in (folder / "settings.json").read_text()


def test_uninstall(bare, holds):
    bare.ask(QUESTION)
    assert bare.told() == []
    before = files_below(bare.scene.home / ".claude")
    bare.install()
    bare.ask(QUESTION)
    bare.uninstall()
    bare.ask(QUESTION)
    holds("after uninstall the model is told nothing", bare.told() == [], bare.told())
    for folder in leftovers(SPEC, bare.scene.place):
        shutil.rmtree(folder, ignore_errors=True)
    after = files_below(bare.scene.home / ".claude")
    new = {name for name in after if after[name] != before.get(name)}
    named = [name for name in new if b"agentlas" in after[name]]
    mentions = [name for name in named if not name.startswith(("projects/", "history"))]
    holds("no file of the host names us, but for its own transcripts", mentions == [], new)
    holds(
        "nor its ~/.claude.json", b"agentlas" not in (bare.scene.home / ".claude.json").read_bytes()
    )
    left = json.loads(after["settings.json"])
    holds("its settings hold empty tables", not any(left.values()), left)


def test_the_installer(bare, holds, manage):
    manage("install", "--host", "claude")
    manage("install", "--host", "claude")
    bare.ask(QUESTION)
    holds("after `install`, twice, it is heard once", counts(bare) == (1, 1), counts(bare))
    [host] = manage("uninstall")["hosts"]
    left = [path for path in host["left"] if "/projects/" not in path]
    holds("`uninstall` leaves our name in transcripts alone", left == [], left)
    bare.ask(QUESTION)
    holds("after `uninstall` the model is told nothing", bare.told() == [], bare.told())
    assert not bare.scene.place.marketplace.exists()


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (
            "a compaction that the host begins by itself",
            "`-p` began none at a reported 190,000 tokens; the event is that of /compact",
        ),
        ("Windows", "the commands are rendered and tested as text"),
    ],
)
def test_what_is_not_checked_here(holds, what, reason):
    holds(what, "n/a", reason)
