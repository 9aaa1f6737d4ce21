"""The plugin for OpenCode in a fake host: what it asks, and what it adds where."""

import json
import os
import shutil

import pytest
from hosts.opencode.plugin_scene import ANSWER, CAPSULE, MAIN, PROMPT, SHORT, Scene, needs_node

pytestmark = needs_node


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def test_a_capsule_is_appended_to_the_last_system_entry(scene):
    scene.hook(ANSWER)
    script = PROMPT + "return [await host.system('s1'), await host.system('s1', 'first', 'last')]"
    assert scene.play(script) == [
        [f"{MAIN}\n\n{CAPSULE}"],
        ["first", f"last\n\n{CAPSULE}"],
    ]


def test_every_step_of_a_turn_is_given_the_same_bytes_by_one_recall(scene):
    scene.recording_hook()
    first, second = scene.play(PROMPT + "return [await host.system('s1'), await host.system('s1')]")
    assert first == second
    assert len(scene.questions()) == 1


def test_the_hook_is_told_what_was_typed(scene):
    scene.recording_hook()
    more = "{type: 'text', text: 'read file', synthetic: true}, {type: 'file'}"
    script = f"""const host = await open({{directory: '/work/ü'}})
        await host.prompt('s1', 'which units?', {more}); await host.system('s1')"""
    scene.play(script)
    assert scene.arguments() == ["--host opencode --event chat.message"]
    assert scene.questions() == [
        {
            "cwd": "/work/ü",
            "prompt": "which units?",
            "session": "s1",
            "message": "msg_1",
            "subagent": False,
        }
    ]


def test_a_large_prompt_travels_on_stdin(scene):
    scene.recording_hook()
    script = "const host = await open(); await host.prompt('s1', 'é'.repeat(400000))\n"
    assert CAPSULE in scene.play(script + "return await host.system('s1')")[0]
    assert scene.questions()[0]["prompt"] == "é" * 400000


def test_a_prompt_without_text_asks_nothing_and_drops_what_was_known(scene):
    scene.recording_hook()
    script = PROMPT + "await host.prompt('s1', ' '); return await host.system('s1')"
    assert scene.play(script) == [MAIN]


@pytest.mark.parametrize(
    "beginning",
    [
        "You are a title generator. You output ONLY a thread title.",
        "You are a context summarization agent. You are given",
        "You are an anchored context summarization assistant for coding sessions.",
        "You are a helpful AI assistant tasked with summarizing conversations.",
    ],
)
def test_requests_for_a_title_or_a_summary_stay_as_they_are(scene, beginning):
    scene.hook(ANSWER)
    script = PROMPT + f"return await host.system('s1', {json.dumps(beginning)})"
    assert scene.play(script) == [beginning]


def test_an_agent_s_own_prompt_for_titles_is_known_from_the_configuration(scene):
    scene.hook(ANSWER)
    agents = "{title: {prompt: 'Name it'}, plan: {}, summary: {prompt: ''}}"
    script = f"{PROMPT} await host.hooks.config({{agent: {agents}}})\n"
    script += "return [await host.system('s1', 'Name it\\nnow'), await host.system('s1')]"
    assert scene.play(script) == [["Name it\nnow"], [f"{MAIN}\n\n{CAPSULE}"]]


def test_a_request_without_a_session_stays_as_it_is(scene):
    scene.hook(ANSWER)
    assert scene.play(PROMPT + "return await host.system(undefined)") == [MAIN]


def test_two_copies_of_the_plugin_add_one_capsule(scene):
    scene.hook(ANSWER)
    shutil.copy(scene.plugin, scene.plugin.with_name("copy.mjs"))
    script = PROMPT + "return await host.system('s1', ...await host.system('s1'))"
    assert scene.play(script) == [f"{MAIN}\n\n{CAPSULE}"]


def test_a_new_prompt_replaces_the_capsule_of_the_last_one(scene):
    scene.hook(f"read q; case $q in *units*) {ANSWER} ;; esac\n")
    script = PROMPT + "const one = await host.system('s1'); await host.prompt('s1', 'thanks')\n"
    assert scene.play(script + "return [one, await host.system('s1')]") == [
        [f"{MAIN}\n\n{CAPSULE}"],
        [MAIN],
    ]


def test_sessions_are_kept_apart(scene):
    scene.hook(ANSWER)
    assert scene.play(PROMPT + "return await host.system('s2')") == [MAIN]


def test_two_directories_in_one_process_are_kept_apart(scene):
    scene.recording_hook()
    script = """const a = await open({directory: '/a'}), b = await open({directory: '/b'})
        await a.prompt('s1', 'one'); await b.prompt('s2', 'two')
        return [await a.system('s1'), await a.system('s2'), await b.system('s2')]"""
    answers = scene.play(script)
    assert [CAPSULE in answer[0] for answer in answers] == [True, False, True]
    assert sorted(q["cwd"] for q in scene.questions()) == ["/a", "/b"]


# --- the two slots ---

JOINED = f"which units?\n\n{CAPSULE}"


def slot(scene, value):
    scene.settings(json.dumps({"opencode.slot": value}))


def test_slot_message_appends_to_the_last_user_message(scene):
    slot(scene, "message")
    scene.hook(ANSWER)
    script = PROMPT + "return [await host.messages('s1', 'old', 'answer', 'which units?', 'step'),"
    assert scene.play(script + "await host.system('s1')]") == [
        [["old"], ["answer"], [JOINED], ["step"]],
        [MAIN],
    ]


PARTS = """
    const parts = [{type: 'text', text: 'which units?', id: 'prt_1'}, {type: 'file'},
        {type: 'text', text: 'for eyes', ignored: true}, {type: 'text', text: ''}]
    const messages = [{info: {id: 'msg_1', sessionID: 's1', role: 'user'}, parts, more: 1}]
    const ask = () => host.hooks['experimental.chat.messages.transform']({}, {messages})
    await ask()
"""


def test_slot_message_takes_the_last_text_that_a_model_reads(scene):
    slot(scene, "message")
    scene.hook(ANSWER)
    (message,) = scene.play(PROMPT + PARTS + "return messages")
    assert message["parts"][0] == {"type": "text", "text": JOINED, "id": "prt_1"}
    assert [part.get("text") for part in message["parts"][1:]] == [None, "for eyes", ""]
    assert message["more"] == 1


def test_slot_message_leaves_the_host_s_own_message_alone(scene):
    slot(scene, "message")
    scene.hook(ANSWER)
    assert scene.play(PROMPT + PARTS + "return parts[0].text") == "which units?"


def test_slot_message_adds_one_capsule_to_a_message_that_is_asked_about_again(scene):
    slot(scene, "message")
    scene.hook(ANSWER)
    script = PROMPT + PARTS + "await ask(); return messages[0].parts[0].text"
    assert scene.play(script) == JOINED


@pytest.mark.parametrize("part", ["{type: 'file'}", "{type: 'text', text: ''}"])
def test_slot_message_leaves_a_message_without_text_alone(scene, part):
    slot(scene, "message")
    scene.hook(ANSWER)
    script = f"""const parts = [{part}]
        const messages = [{{info: {{sessionID: 's1', role: 'user'}}, parts}}]
        await host.hooks['experimental.chat.messages.transform']({{}}, {{messages}})
        return messages[0].parts === parts"""
    assert scene.play(PROMPT + script) is True


def test_slot_system_leaves_messages_alone(scene):
    scene.hook(ANSWER)
    script = PROMPT + "return await host.messages('s1', 'which units?')"
    assert scene.play(script) == [["which units?"]]


@pytest.mark.parametrize("value", ["system", "message"])
def test_a_summary_is_given_the_capsule_once_and_later_requests_again(scene, value):
    slot(scene, value)
    scene.hook(ANSWER)
    script = """
        const context = await host.compacting('s1')
        const summarized = await host.messages('s1', 'which units?')
        return [context, summarized, await host.messages('s1', 'Continue'), await host.system('s1')]
    """
    context, summarized, later, system = scene.play(PROMPT + script)
    assert (context, summarized) == ([CAPSULE], [["which units?"]])
    places = [CAPSULE in later[0][0], CAPSULE in system[0]]
    assert places == [value == "message", value == "system"]


def test_two_copies_of_the_plugin_give_a_summary_one_capsule(scene):
    scene.hook(ANSWER)
    script = PROMPT + "return await host.compacting('s1', ...await host.compacting('s1'))"
    assert scene.play(script) == [CAPSULE]


def test_a_summary_after_a_prompt_that_found_nothing_is_given_nothing(scene):
    scene.hook("exit 0\n")
    assert scene.play(PROMPT + "return await host.compacting('s1')") == []


def test_an_older_host_that_shows_no_messages_of_a_summary_is_given_it_again_too(scene):
    slot(scene, "message")
    scene.hook(ANSWER)
    script = "await host.compacting('s1'); await host.event('session.compacted', {sessionID: 's1'})"
    script = f"{PROMPT}{script}\nreturn await host.messages('s1', 'which units?')"
    assert scene.play(script) == [[JOINED]]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"opencode.slot": 7}', '{"opencode.slot": "x"}']
)
def test_settings_that_say_nothing_leave_the_default(scene, text):
    scene.hook(ANSWER)
    scene.settings(text)
    script = PROMPT + "return await host.messages('s1', 'which units?')"
    assert scene.play(script) == [[JOINED]]


def test_settings_may_begin_with_a_mark(scene):
    scene.hook(ANSWER)
    scene.settings('\ufeff{"opencode.slot": "system"}')
    assert CAPSULE in scene.play(PROMPT + "return await host.system('s1')")[0]


def test_settings_are_read_anew_at_each_prompt(scene):
    scene.hook(ANSWER)
    path = json.dumps(str(scene.place.data_home / "settings.json"))
    script = (
        PROMPT
        + f"""
        (await import('node:fs')).writeFileSync({path}, '{{}}')
        const before = await host.system('s1')
        await host.prompt('s1', 'which units?')
        return [before[0].length, (await host.system('s1'))[0]]"""
    )
    assert scene.play(script) == [len(f"{MAIN}\n\n{CAPSULE}"), MAIN]


def test_a_pipe_in_the_settings_place_is_not_waited_for(scene):
    scene.hook(ANSWER)
    file = scene.place.data_home / "settings.json"
    file.unlink()
    os.mkfifo(file)
    script = PROMPT + "return await host.messages('s1', 'which units?')"
    assert scene.play(script) == [[JOINED]]


# --- sub-agents ---

CREATED = "await host.event('session.created', {info: {id: 's2', parentID: 's1'}})\n"


def test_the_hook_is_told_of_a_subagent(scene):
    scene.recording_hook()
    script = "const host = await open(); " + CREATED
    scene.play(script + "await host.prompt('s2', 'sub'); await host.system('s2')")
    assert scene.questions()[0]["subagent"] is True


@pytest.mark.parametrize(("parents", "subagent"), [("{s2: 's1'}", True), ("{}", False)])
def test_a_session_from_before_is_asked_about(scene, parents, subagent):
    scene.recording_hook()
    script = f"const host = await open({{parents: {parents}}})\n"
    scene.play(script + "await host.prompt('s2', 'sub'); await host.system('s2')")
    assert scene.questions()[0]["subagent"] is subagent


@pytest.mark.parametrize("get", ["() => {throw 1}", "async () => ({})", "undefined"])
def test_a_client_that_fails_is_no_reason_to_forget(scene, get):
    scene.hook(ANSWER)
    script = f"const host = await open(); host.client.session.get = {get}\n"
    script += "await host.prompt('s2', 'sub'); return await host.system('s2')"
    assert CAPSULE in scene.play(script)[0]


def test_a_client_that_never_answers_costs_no_more_than_the_limit(scene):
    scene.hook(ANSWER)
    script = "const host = await open(); host.client.session.get = () => new Promise(() => {})\n"
    script += "await host.prompt('s2', 'sub')\nlet system; const time = await seconds(async () =>"
    time_, system = scene.play(
        script + "{system = await host.system('s2')}); return [time, system]"
    )
    assert system == [MAIN]
    assert SHORT * 0.8 < time_ < SHORT + 1


# --- the host's side ---


def test_no_hook_throws_whatever_it_is_given(scene):
    scene.hook(ANSWER)
    script = """const host = await open(); const hurt = []
        const odd = [undefined, null, 7, {}, {sessionID: 's1', event: {type: 'session.deleted'}}]
        for (const [name, hook] of Object.entries(host.hooks)) for (const a of odd)
            for (const b of [...odd, {parts: [null], message: {}}, {messages: [{}], system: null}])
                try { await hook(a, b) } catch (error) { hurt.push([name, String(error)]) }
        return hurt"""
    assert scene.play(script) == []


def test_a_run_that_we_started_ourselves_has_no_hooks(scene):
    script = "return Object.keys((await open()).hooks)"
    assert "chat.message" in scene.play(script)
    assert scene.play(script, AGENTLAS_MEMORY_CHILD="1") == []


def test_the_file_exports_one_function(scene):
    script = f"""const module = await import({json.dumps(str(scene.plugin))})
        return Object.values(module).map((value) => typeof value)"""
    assert scene.play(script) == ["function"]


def test_on_windows_the_launcher_is_run_by_cmd_without_a_window_of_its_own(scene, tmp_path):
    scene.recording_hook()
    shell = tmp_path / "cmd.exe"
    shell.write_text(f'#!/bin/sh\n(echo "$@"; cat) > "{scene.asked}/$$"\n{ANSWER}')
    shell.chmod(0o755)
    windows = "Object.defineProperty(process, 'platform', {value: 'win32'}); "
    answer = scene.play(windows + PROMPT + "return await host.system('s1')", ComSpec=str(shell))
    assert CAPSULE in answer[0]
    hook = scene.place.hook.as_posix()
    told = '/d /s /c ""' + hook + '.cmd" --host opencode --event chat.message"'
    assert scene.arguments() == [told]
