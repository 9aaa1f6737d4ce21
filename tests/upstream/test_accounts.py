"""Whatever an old store holds: each row that was found is carried, or left for a reason."""

import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlas_memory.cli import cli
from agentlas_memory.project import DATABASE

from .conftest import Upstream

AGENTS = st.sampled_from(
    ["hub:dev", "dev", "Hub:DEV", "hub:painter", "painter", "others", "no agent", "a:b", "", None]
)
ROWS = st.fixed_dictionaries(
    {
        "text": st.sampled_from(["Use cents", "Use euros", "", None, "x" * 2100]),
        "agent": AGENTS,
        "kind": st.sampled_from(["experience", "lesson", "candidate", None]),
        "status": st.sampled_from(["active", "ACTIVE ", "superseded", "rejected", None]),
        "expiry": st.sampled_from([None, "2999-12-31", "soon"]),
        "privacy_scope": st.sampled_from(["private", "public", None]),
    }
)
SOURCES = st.tuples(
    st.sampled_from(["docs/a.md", "./docs/a.md", "docs/gone.md", "note:1", "note:2", "x.py", None]),
    st.lists(st.sampled_from(["One text", "Another text", "", None]), max_size=2),
    st.sampled_from(["private", "internal", None]),
)
LINKS = st.tuples(
    st.integers(0, 7), st.sampled_from(["supersedes", "contradicts", "like"]), st.integers(0, 7)
)
TABLES = {  # what was found -> what is carried of it, what is left of it
    "experience": (["experience"], ["experience rows"]),
    "links": (["links"], ["links"]),
    "tickets": ([], ["curator tickets"]),
    "sources": (["files", "notes"], ["sources", "texts", "files"]),
    "chunks": ([], ["chunks"]),
    "entities": ([], ["entities"]),
    "working_memory": ([], ["working memory"]),
}


def fill(root, rows, sources, links):
    store = Upstream(root / DATABASE, wal=False)
    for number, row in enumerate(rows):
        store.learn(f"t{number}", row["text"], **{k: row[k] for k in row if k != "text"})
    for number, (uri, texts, scope) in enumerate(sources):
        texts_there = [text for text in texts if text is not None]
        store.source(uri, *texts_there, scope=scope, identity=f"s{number}")
    for newer, kind, older in set(links):
        store.link(f"t{newer}", f"t{older}", kind)
    store.insert("entities", entity_id="e1", canonical_name="Ledger")
    store.insert("working_memory", item_id="w1", memory_item="halfway through")
    store.close()


def run(*arguments):
    result = CliRunner().invoke(cli, ["import-store", "--json", *map(str, arguments)])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def check(told):
    left = Counter()
    for one in told["not_carried"]:
        left[one["what"]] += one["count"]
    for table, count in told["found"].items():
        carried, stays = TABLES.get(table, ([], [table]))
        assert count == sum(told["carried"].get(key, 0) for key in carried) + sum(
            left[key] for key in stays
        ), (table, told)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(ROWS, max_size=8),
    st.lists(SOURCES, max_size=6),
    st.lists(LINKS, max_size=6),
    st.booleans(),
)
def test_every_row_is_carried_or_left_for_a_reason(home, rows, sources, links, really):
    with tempfile.TemporaryDirectory(dir=home) as folder:
        root = Path(folder)
        (root / "docs").mkdir()
        (root / "docs/a.md").write_text("# A\n\nThe gateway is drained on Mondays.\n")
        (root / "x.py").write_text("def login(): ...\n")
        fill(root, rows, sources, links)
        at = ("--project", root)
        check(run("--dry-run", *at))
        if really:
            check(run("--yes", *at))
        for agent in ("dev", "painter", "others"):
            check(run("--agent", agent, "--dry-run", *at))
        if really:
            check(run("--agent", "dev", "--yes", *at))
            check(run("--yes", *at))
            check(run("--yes", "--agent", "dev", *at))


def test_the_account_would_not_hold_if_a_row_were_lost():
    told = {"found": {"experience": 2}, "carried": {}, "not_carried": []}
    with pytest.raises(AssertionError):
        check(told)
