"""The contract that scripts rely on: JSON keys, exit codes, streams."""

import json
import os
import pty
import shlex
import subprocess
import sys

import pytest

from agentlas_memory import __version__, hook
from agentlas_memory.cli import COMMANDS, cli
from agentlas_memory.commands.options import HOOK_HITS, HOOK_SCOPES

QUERY_KEYS = {"query", "retrieval", "hits"}
HIT_KEYS = {
    "chunk_id",
    "source",
    "heading",
    "lines",
    "text",
    "score",
    "lexical_rank",
    "lexical_score",
    "cosine",
    "entity_rank",
    "scope",
    "stale",
}
INDEX_KEYS = {
    "sources",
    "chunks",
    "added",
    "changed",
    "removed",
    "unchanged",
    "skipped",
    "embedding",
    "seconds",
}
STATUS_KEYS = {
    "project",
    "trusted",
    "store",
    "sources",
    "chunks",
    "indexed_at",
    "changed_since",
    "retrieval",
    "last_silence",
    "last_failure",
    "agent",
    "hosts",
    "runtime",
}
WHY_KEYS = QUERY_KEYS | {
    "candidates",
    "gates",
    "dropped",
    "judged_by",
    "silence_reason",
    "agent",
    "experience",
}
IMPORT_KEYS = {
    "source",
    "place",
    "dry_run",
    "scope",
    "found",
    "added",
    "changed",
    "removed",
    "unchanged",
    "forgotten",
    "edited",
    "vanished",
    "duplicates",
    "held",
    "skipped",
    "redacted",
    "remarks",
    "index",
}
MODEL_KEYS = {"name", "status", "content_sha256", "path"}
KEYS = {
    "init": {"project", "created"},
    "index": INDEX_KEYS,
    "remember|we ship on Fridays": {"id", "path"},
    "notes|list": {"notes"},
    "import|markdown|.|--dry-run": IMPORT_KEYS,
    "query|how is the ledger settled": QUERY_KEYS,
    "why|how is the ledger settled": WHY_KEYS,
    "status": STATUS_KEYS,
    "trust": {"project", "trusted"},
    "experience|add|ledgers are kept|--agent|keeper": {"agent", "id", "path", "left_out"},
    "experience|list|--agent|keeper": {"agent", "experience"},
    "distrust": {"project", "trusted"},
    "off": {"project", "on"},
    "on": {"project", "on"},
    "off|--all": {"project", "on"},
    "graph|show|LedgerService": {"entity", "relations"},
    "model|verify": MODEL_KEYS,
    "model|path": MODEL_KEYS,
}


@pytest.mark.parametrize("line", KEYS)
def test_json_is_one_document_with_the_promised_keys(project, am, line):
    outcome = am(*line.split("|"), "--json")
    assert outcome.code == 0, outcome.err
    assert set(outcome.json) == KEYS[line]


def test_a_hit_has_the_promised_keys(project, am):
    hits = am("query", "how is the ledger settled", "--json").json["hits"]
    assert set(hits[0]) == HIT_KEYS
    assert hits[0]["source"] == "docs/0007-ledger.md"


@pytest.mark.parametrize("line", KEYS)
def test_project_may_be_named_from_anywhere(project, am, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [word for word in line.split("|") if word != "--all"]
    assert am(*words, "--project", str(project)).code == 0


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param("index|--json", 2, id="no store"),
        pytest.param("query|x|--json", 2, id="no store to ask"),
        pytest.param("frobnicate|--json", 2, id="unknown command"),
        pytest.param("query|--json", 2, id="argument missing"),
        pytest.param("index|--nope|--json", 2, id="unknown option"),
        pytest.param("why|--json", 2, id="neither prompt nor --last"),
        pytest.param("why|x|--last|--json", 2, id="both"),
        pytest.param("status|--project|/does/not/exist|--json", 2, id="no such folder"),
        pytest.param("init|--project|/|--json", 3, id="root"),
    ],
)
def test_an_error_is_one_json_document_and_an_exit_code(folder, am, line, code):
    outcome = am(*line.split("|"))
    assert outcome.code == code
    assert set(outcome.json) == {"error", "kept", "next"}
    assert outcome.json["error"] in outcome.err
    assert "Traceback" not in outcome.err


def test_an_error_says_what_was_kept_and_what_to_do_next(folder, am):
    outcome = am("index")
    assert outcome.out == ""
    assert "There is no memory in" in outcome.err
    assert "Nothing was changed." in outcome.err
    assert f"agentlas-memory init --project '{folder}'" in outcome.err


def test_the_suggested_command_can_be_pasted_into_a_shell(folder, am):
    suggested = am("index", "--json").json["next"].removeprefix("agentlas-memory")
    command = f"{shlex.quote(sys.executable)} -m agentlas_memory {suggested}"
    assert subprocess.run(command, shell=True, capture_output=True).returncode == 0


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "bench"])
def test_every_command_has_help(am, name):
    outcome = am(name, "--help")
    assert outcome.code == 0
    assert "Usage: agentlas-memory " + name in outcome.out


def test_the_table_of_help_lists_every_command(am):
    out = am("--help").out
    assert all(f"  {name} " in out for name in COMMANDS)
    assert cli.list_commands(None) == list(COMMANDS)


def test_version(am):
    assert __version__ in am("--version").out


def test_commands_ask_what_the_hook_asks():
    assert (HOOK_SCOPES, HOOK_HITS) == (hook.SCOPES, hook.HITS)


@pytest.mark.parametrize("line", ["index", "status", "why|how is the ledger settled"])
def test_no_escape_codes_off_a_terminal(project, process, line):
    outcome = process(*line.split("|"), FORCE_COLOR="1", TERM="xterm-256color")
    assert outcome.code == 0
    assert "\x1b" not in outcome.out + outcome.err


def test_no_color_is_honoured_on_a_terminal(project):
    plain = on_terminal("why", "how is the ledger settled", NO_COLOR="1")
    assert "ledger.md" in plain
    assert "\x1b[3" not in plain


def test_what_a_document_holds_is_not_obeyed_by_the_terminal(project, am):
    (project / "docs/evil.md").write_text("# Evil\n\nThe zorkmid \x1b]0;owned\x07 is a coin.\n")
    am("index")
    assert "\x1b" not in on_terminal("query", "zorkmid coin", NO_COLOR="1", TERM="dumb")


def test_a_reader_that_leaves_is_no_error(project):
    command = f"{shlex.quote(sys.executable)} -m agentlas_memory status --json | head -c 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("{", "")


def test_a_narrow_locale_is_no_error(folder, process, monkeypatch):
    (folder / "日本").mkdir()
    monkeypatch.chdir(folder / "日本")
    outcome = process("init", PYTHONIOENCODING="cp437")
    assert outcome.code == 0
    assert "/??" in outcome.err


def on_terminal(*arguments, **environment):
    """Return what the command prints on a terminal 200 columns wide."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "agentlas_memory", *arguments]
    environment = os.environ | {"COLUMNS": "200"} | environment
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as child:
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:  # Linux says EIO when the other side is closed
            pass
        os.close(ours)
    assert child.returncode == 0
    return b"".join(parts).decode()


def test_json_is_ascii(project, process):
    out = process("status", "--json").out
    assert out.isascii()
    assert json.loads(out)["project"].endswith("my pröject")
