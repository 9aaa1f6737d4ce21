"""The plugin for OpenCode in a fake host: nothing that becomes of the hook can hold it up."""

import os
import shutil
import time

import pytest
from hosts.opencode.plugin_scene import ANSWER, MAIN, PROMPT, SHORT, Scene, needs_node
from hosts.processes import all_end

pytestmark = needs_node


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


@pytest.mark.parametrize(
    "script",
    [
        None,
        f"{ANSWER}exit 7\n",
        f"{ANSWER}kill -9 $$\n",
        "echo Traceback: garbage\n",
        f"echo warning\n{ANSWER}",
        f"{ANSWER}echo tail\n",
        f"{ANSWER}{ANSWER}",
        "printf '<agentlas-memory-context version=1>\\nhalf'\n",
        f"{ANSWER}printf '\\377'\n",
        "head -c 100000 /dev/zero\n",
        "exec head -c 100000000 /dev/zero\n",
        "exec 0<&-\nexit 0\n",
    ],
    ids=[
        "missing",
        "exit-7",
        "killed",
        "garbage",
        "garbage-before",
        "garbage-after",
        "twice",
        "half",
        "not-utf8",
        "large",
        "endless",
        "reads-nothing",
    ],
)
def test_a_hook_that_fails_adds_nothing(scene, script):
    if script is not None:
        scene.hook(script)
    large = "const host = await open(); await host.prompt('s1', 'x'.repeat(1000000))\n"
    assert scene.play(large + "return await host.system('s1')") == [MAIN]


def test_a_hook_that_may_not_be_run_adds_nothing(scene):
    scene.hook(ANSWER)
    scene.place.hook.chmod(0o644)
    assert scene.play(PROMPT + "return await host.system('s1')") == [MAIN]


HANGING = "sleep 60 & echo $$ $! > {0}.new\nmv {0}.new {0}\nwait\n"


def hang(scene, script=HANGING):
    pids = scene.plugin.with_name("pids")
    scene.hook(script.format(pids))
    return pids


def all_dead(pids):
    """Tell whether the processes in a file end within a second."""
    return all_end(pids.read_text().split(), 1)


def test_a_hook_that_hangs_is_killed_with_what_it_started(scene):
    pids = hang(scene)
    script = PROMPT + "const time = await seconds(() => host.system('s1'))\n"
    first, second = scene.play(script + "return [time, await seconds(() => host.system('s1'))]")
    assert SHORT * 0.8 < first < SHORT + 1
    assert second < 0.2
    assert all_dead(pids)


def test_a_grandchild_that_holds_the_pipe_holds_nobody_up(scene):
    pids = hang(scene, ANSWER + "sleep 60 & echo $! > {0}\nexit 0\n")
    assert scene.play(PROMPT + "return await seconds(() => host.system('s1'))") < SHORT + 1
    assert all_dead(pids)


def test_a_grandchild_in_a_group_of_its_own_holds_nobody_up(scene):
    if shutil.which("setsid") is None:
        pytest.skip("setsid is not installed")
    pids = hang(scene, "setsid sleep 5 & echo $! > {0}\nwait\n")
    began = time.monotonic()
    scene.play(PROMPT + "await host.system('s1')")  # node ends: no pipe keeps it
    assert time.monotonic() - began < 4
    os.kill(int(pids.read_text()), 9)


@pytest.mark.parametrize(
    "end",
    [
        "host.hooks.dispose()",
        "host.event('session.deleted', {sessionID: 's1', info: {id: 's1'}})",
        "host.event('session.deleted', {info: {id: 's1'}})",
        "host.event('session.deleted', {sessionID: 's1'})",
        "host.prompt('s1', ' ')",
    ],
    ids=["dispose", "deleted", "deleted-by-info", "deleted-by-id", "next-prompt"],
)
def test_a_running_hook_ends_and_who_waits_goes_on_with(scene, end):
    hang(scene)
    script = f"""
        const waiting = host.system('s1')
        const pids = await contents('pids')
        return await seconds(async () => {{
            await {end}
            await waiting
            while (pids.some(alive)) await pause()
        }})"""
    assert scene.play(PROMPT + script) < SHORT / 2


def test_a_hook_that_prints_without_end_is_ended_at_once(scene):
    scene.hook("exec yes\n")
    assert scene.play(PROMPT + "return await seconds(() => host.system('s1'))") < SHORT / 2


def test_what_was_answered_keeps_no_process(tmp_path):
    scene = Scene(tmp_path, limit=20)
    scene.hook(ANSWER)
    began = time.monotonic()
    scene.play(PROMPT + "await host.system('s1')")
    assert time.monotonic() - began < 10


def test_a_program_that_cannot_even_be_named_adds_nothing(scene):
    text = scene.plugin.read_text()
    scene.plugin.write_text(text.replace("const HOOK = ", "const HOOK = '\\0' + "))
    assert scene.play(PROMPT + "return await host.system('s1')") == [MAIN]


def test_a_deleted_session_is_forgotten(scene):
    scene.hook(ANSWER)
    script = PROMPT + "await host.system('s1')\nawait host.event('session.deleted', "
    assert scene.play(script + "{sessionID: 's1'}); return await host.system('s1')") == [MAIN]


def test_a_disposed_instance_says_nothing_more(scene):
    scene.hook(ANSWER)
    script = PROMPT + "await host.hooks.dispose(); return [await host.system('s1'),"
    assert scene.play(script + "await host.compacting('s1')]") == [[MAIN], []]
