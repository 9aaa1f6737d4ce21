"""Entities and relations that a document's structure gives, and whether it still holds."""

import pytest

from agentlas_memory.ontology.chunker import chunk_document
from agentlas_memory.ontology.entities import extract_entities
from agentlas_memory.ontology.formats import read_document
from agentlas_memory.ontology.standing import document_kind, document_status, read_standing


def extract(text, path="docs/guide.md"):
    document = read_document(path, text.encode())
    return extract_entities(document, chunk_document(document))


def mentioned(text, path="docs/guide.md", kind=None):
    mentions, _ = extract(text, path)
    return [
        mention.key
        for mention in mentions
        if mention.relation == "mentions" and kind in (None, mention.kind)
    ]


def defined(text, path="docs/guide.md"):
    mentions, _ = extract(text, path)
    return {mention.key: mention.chunk for mention in mentions if mention.relation == "defined_in"}


def links(text, path="docs/guide.md"):
    return [link[:3] for link in extract(text, path)[1] if link.relation != "part_of"]


def test_a_document_defines_its_path_id_and_headings():
    text = "---\nid: Guide-1\n---\n# Money ledger\nx\n## 2. Minor units\ny\n## Context\nz\n"
    assert defined(text) == {
        "path:docs/guide.md": 0,
        "id:guide-1": 0,
        "heading:money ledger": 0,
        "heading:minor units": 1,
    }


def test_a_heading_is_part_of_its_document():
    _, found = extract("# Ledger\n## Units\ntext\n")
    assert [tuple(link) for link in found] == [
        ("heading:ledger", "part_of", "path:docs/guide.md", 0),
        ("heading:units", "part_of", "path:docs/guide.md", 0),
    ]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        pytest.param("use `getUserById` here", ["getuserbyid"], id="identifier"),
        pytest.param("call `open_store()` and `f(x)`", ["open_store"], id="calls"),
        pytest.param("``verify_token`` in rst", ["verify_token"], id="two backticks"),
        pytest.param("flag `--json`, `a::b`", ["--json", "a::b"], id="flag and path in code"),
        pytest.param("see `src/auth.py:12`", ["path:src/auth.py"], id="path with line"),
        pytest.param(
            "`./a/../b.md` `Makefile.toml`", ["path:b.md", "path:makefile.toml"], id="files"
        ),
        pytest.param("`../api/x.go`", ["path:api/x.go"], id="path from here"),
        pytest.param("`two words` `123` `true` `https://a.b/c` `" + "x" * 61 + "`", [], id="none"),
        pytest.param("```\n`code` #12 ADR-3\n```\ntext", [], id="fence"),
        pytest.param("ADR-7, adr 0012 and ADR_3", ["adr:7", "adr:12", "adr:3"], id="adr"),
        pytest.param("fixes #123, GH-45 (#6)", ["issue:123", "issue:45", "issue:6"], id="issues"),
        pytest.param("a/b#1 &#123; #0a #12px x#3 [a](#4)", [], id="no issues"),
    ],
)
def test_what_a_text_mentions(text, keys):
    assert mentioned(text) == keys


def test_identifiers_in_a_heading_are_defined_there():
    assert defined("## The `open_store` call\ntext\n")["open_store"] == 0


def test_definitions_of_code_are_identifiers():
    assert defined("def verify_token(x):\n    pass\n", "src/auth.py")["verify_token"] == 0


def test_every_mention_names_the_chunk_that_holds_it():
    text = "# A\none\n# B\nsee `token`\n# C\nsee `token`\n"
    mentions, _ = extract(text)
    assert [mention.chunk for mention in mentions if mention.key == "token"] == [1, 2]


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("[a](other.md)", "docs/other.md"),
        ("[a](<../README.md> 'title')", "readme.md"),
        ("[a](/src/a%20b.md#part)", "src/a b.md"),
        ("[a]: ./other.md", "docs/other.md"),
        ("[a](sub/)", "docs/sub"),
    ],
)
def test_links_lead_to_paths_of_the_project(link, target):
    assert links(f"text\n\n{link}\n") == [("path:docs/guide.md", "links_to", f"path:{target}")]


@pytest.mark.parametrize(
    "link",
    ["[a](https://x.y/z)", "[a](#here)", "![a](b.png)", "[a](../../up.md)", "[a](mailto:a@b)"],
)
def test_other_links_are_none(link):
    assert links(f"text {link}\n") == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docs/a.rst", "see `other <other.rst>`_\n"),
        ("docs/a.adoc", "see link:other.rst[it] \n"),
        ("docs/a.org", "see [[file:other.rst][it]]\n"),
    ],
)
def test_other_formats_have_their_own_links(path, text):
    assert links(text, path) == [(f"path:{path}", "links_to", "path:docs/other.rst")]


def test_a_decision_is_known_by_its_number():
    path = "docs/adr/0007-ledger.md"
    assert defined("# 7. Ledger\ntext\n", path)["adr:7"] == 0
    assert defined("# ADR-8: Queue\ntext\n")["adr:8"] == 0
    assert "adr:7" in mentioned("see [it](adr/0007-ledger.md)\n")
    assert "adr:2025" not in defined("# Log\ntext\n", "notes/2025-01-05.md")


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("docs/adr/0007-ledger.md", "x", "adr"),
        ("docs/decisions/use-sqlite.md", "x", "adr"),
        ("docs/adr/README.md", "x", "doc"),
        ("docs/adr/template.md", "x", "doc"),
        ("docs/queue.md", "# ADR 12: Queue\n", "adr"),
        ("README.md", "# See ADR 12\n", "doc"),
        (".agentlas/ontology-inbox/a.md", "x", "note"),
    ],
)
def test_kinds(path, text, kind):
    assert document_kind(read_document(path, text.encode())) == kind


@pytest.mark.parametrize(
    ("text", "status"),
    [
        pytest.param("---\nstatus: Accepted\n---\nx", "accepted", id="front matter"),
        pytest.param("---\nstatus: superseded by ADR-9\n---\nx", "superseded", id="by, in front"),
        pytest.param("---\nsuperseded_by: 9\n---\nx", "superseded", id="superseded_by alone"),
        pytest.param(
            "# A\n\n## Status\n\nProposed\n\n## Context\n\nAccepted\n", "proposed", id="section"
        ),
        pytest.param("# A\n\n* Status: rejected\n", "rejected", id="list"),
        pytest.param("# A\n\n- **Status:** Accepted\n", "accepted", id="bold"),
        pytest.param("# A\n\n| Status | Accepted |\n|---|---|\n", "accepted", id="table"),
        pytest.param("# A\n\nStatus: ~~accepted~~ deprecated\n", "deprecated", id="struck"),
        pytest.param(
            "# A\n\n## Status\n\nAccepted\n\nSuperseded by [ADR-9](0009-x.md)\n",
            "superseded",
            id="later line",
        ),
        pytest.param("# A\n\n## Status\n\nSupersedes ADR-3\n", None, id="only supersedes"),
        pytest.param("# A\n\nStatus: proposed | rejected | accepted\n", None, id="template"),
        pytest.param("# A\n\n## Status\n\nThe v1 API is superseded by v2.\n", None, id="prose"),
        pytest.param("# A\n\nStatus: beta\n", None, id="other word"),
        pytest.param("# A\n" + "x\n" * 50 + "Status: accepted\n", None, id="far down"),
        pytest.param("---\nstatus: {a: b}\n---\nx", None, id="no text"),
        pytest.param("# A\n\n## Status\n\n❌ rejected\n", "rejected", id="a cross"),
        pytest.param("# A\n\nStatus: ✅ **Accepted**\n", "accepted", id="a tick"),
        pytest.param("# A\n\nStatus: Verworfen\n", "rejected", id="German"),
        pytest.param("# A\n\n## Status\n\nAbgelehnt am 3. Mai\n", "rejected", id="German, dated"),
        pytest.param("# A\n\n## Status\n\nAngenommen\n", "accepted", id="German, accepted"),
        pytest.param("# A\n\n## Статус\n\nЗаменено на ADR-9\n", "superseded", id="Russian"),
        pytest.param("# A\n\n- **Статус:** Отклонено\n", "rejected", id="Russian, rejected"),
        pytest.param("# A\n\n* Statut : rejeté\n", "rejected", id="French"),
        pytest.param("---\nestado: rechazado\n---\nx", "rejected", id="Spanish"),
        pytest.param("# A\n\n## 状态\n\n已拒绝\n", "rejected", id="Chinese"),
    ],
)
def test_statuses(text, status):
    assert document_status(read_document("docs/adr/0003-x.md", text.encode())) == status


@pytest.mark.parametrize(
    ("text", "status"),
    [
        pytest.param("# Guide\n\nStatus: deprecated\n", "deprecated", id="under the title"),
        pytest.param("# G\n\n> **Deprecated.** Use v2.\n", "deprecated", id="a quoted notice"),
        pytest.param("# G\n\n**⚠️ DEPRECATED**: use v2.\n", "deprecated", id="a bold notice"),
        pytest.param("# G\n\n> Deprecated names are kept.\n", None, id="a sentence on names"),
        pytest.param("# G\n\na\nb\nc\n> **Deprecated.**\n", None, id="of one paragraph"),
        pytest.param("# A\n## Status\nDraft\n", "proposed", id="status section"),
        pytest.param("# A\n## Jobs\n- status: rejected\n", None, id="a field of something else"),
        pytest.param("# A\n## Status\n- `new`\n- `obsolete`\n", None, id="a list of values"),
        pytest.param("# A\n```yaml\nstatus: obsolete\n```\n", None, id="code"),
    ],
)
def test_statuses_outside_of_records(text, status):
    assert document_status(read_document("docs/guide.md", text.encode())) == status


def test_data_has_no_status():
    assert document_status(read_document("job.yaml", b"status: obsolete\n")) is None


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("---\nsupersedes: [ADR-3]\n---\nx", ("adr:7", "supersedes", "adr:3")),
        ("---\nsupersedes: 0003\n---\nx", ("adr:7", "supersedes", "adr:3")),
        ("# A\n\nReplaces [0003](0003-old.md).\n", ("adr:7", "supersedes", "adr:3")),
        ("# A\n\nSupersedes #3.\n", ("adr:7", "supersedes", "adr:3")),
        (
            "# A\n\nThis decision replaces our earlier decision in ADR-0003 because of ADR-5.\n",
            ("adr:7", "supersedes", "adr:3"),
        ),
        ("---\nsupersedes: 0003-old.md\n---\nx", ("adr:7", "supersedes", "adr:3")),
        ("---\nsupersedes: ../old.md\n---\nx", ("adr:7", "supersedes", "path:docs/old.md")),
        ("---\nsuperseded_by: 9\n---\nx", ("adr:9", "supersedes", "adr:7")),
        ("# A\n\n## Status\n\nSuperseded by [9. X](0009-x.md)\n", ("adr:9", "supersedes", "adr:7")),
        ("# A\n\nStatus: accepted, supersedes ADR-3\n", ("adr:7", "supersedes", "adr:3")),
        ("# A\n\n- Superseded by: ADR-9\n", ("adr:9", "supersedes", "adr:7")),
        ("# A\n\nStatus: accepted\n\nSupersedes ADR-0003\n", ("adr:7", "supersedes", "adr:3")),
        ("# A\n\nSupersedes [3. X](0003-x.md)\n", ("adr:7", "supersedes", "adr:3")),
    ],
)
def test_what_replaces_what(text, link):
    found = links(text, "docs/adr/0007-ledger.md")
    assert [entry for entry in found if entry[1] == "supersedes"] == [link]


def test_the_evidence_of_a_relation_is_the_chunk_that_says_it():
    text = "# A\n\n## Status\n\nAccepted.\nSupersedes ADR-3.\n\n## Context\n\nJobs were lost.\n"
    document = read_document("docs/adr/0007-a.md", text.encode())
    chunks = chunk_document(document)
    _, found = extract_entities(document, chunks)
    [chunk] = [link.chunk for link in found if link.relation == "supersedes"]
    assert "Supersedes ADR-3" in chunks[chunk].text


def test_a_note_replaces_another_by_its_id():
    text = "---\nid: bbb\nsupersedes: aaa\n---\nsshd listens on 49222\n"
    assert links(text, ".agentlas/ontology-inbox/n.md") == [
        ("path:.agentlas/ontology-inbox/n.md", "supersedes", "id:aaa")
    ]


def test_a_claim_names_its_line():
    document = read_document("docs/adr/0007-x.md", b"# A\n\n## Status\n\nSupersedes ADR-3\n")
    (claim,) = read_standing(document).supersedes
    assert (claim.entity.name, claim.line) == ("ADR-3", 5)


def test_a_document_without_text_has_no_entities():
    assert extract("") == ([], [])
