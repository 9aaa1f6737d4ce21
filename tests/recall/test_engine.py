"""What becomes a hit, and why the rest does not."""

import os
import sqlite3

import pytest
from recall.ledger import ASK, LEDGER, gates


def test_hit_says_where_it_stands_and_how_it_ranked(project):
    project.index({"docs/ledger.md": LEDGER})
    [hit] = project.runtime.query(ASK).hits
    assert (hit.source, hit.heading, hit.lines) == ("docs/ledger.md", "Ledger", (3, 3))
    assert (hit.lexical_rank, hit.scope, hit.stale) == (1, "internal", False)
    assert hit.cosine > 0.5
    assert hit.lexical_score > 0


@pytest.mark.parametrize("change", ["edited", "deleted", "moved"])
def test_text_that_is_no_longer_so_is_not_told(project, change):
    project.index({"ledger.md": LEDGER})
    file = project.root / "ledger.md"
    if change == "edited":
        file.write_text(LEDGER.replace("minor", "major"))
    elif change == "deleted":
        file.unlink()
    else:
        file.rename(project.root / "other.md")
    found = project.runtime.explain(ASK)
    assert (found.hits, found.silence_reason) == ([], "stale")
    assert gates(project) == {"ledger.md": "stale"}
    [candidate] = found.candidates
    assert candidate.source_state == ("changed" if change == "edited" else "gone")


def test_lines_that_moved_in_an_edited_file_are_told_with_their_new_numbers(project):
    project.index({"ledger.md": LEDGER})
    (project.root / "ledger.md").write_text(f"# News\r\n\r\nNothing.\r\n\r\n{LEDGER}")
    [hit] = project.runtime.explain(ASK).hits
    assert (hit.row.start_line, hit.row.end_line, hit.source_state) == (7, 7, "moved")


def test_lines_that_stand_twice_or_under_another_heading_are_not_told(project):
    project.index({"ledger.md": LEDGER})
    for text in (LEDGER + LEDGER, LEDGER.replace("# Ledger", "# Rejected")):
        (project.root / "ledger.md").write_text(text)
        assert gates(project) == {"ledger.md": "stale"}


def test_text_whose_time_was_set_back_is_not_told(project):
    project.index({"ledger.md": LEDGER})
    file = project.root / "ledger.md"
    before = file.stat()
    file.write_text(LEDGER.replace("minor", "major"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert gates(project) == {"ledger.md": "stale"}


def test_touched_file_of_the_same_content_is_current(project):
    project.index({"ledger.md": LEDGER})
    os.utime(project.root / "ledger.md", (1, 1))
    assert project.sources_of(ASK) == ["ledger.md"]


@pytest.mark.parametrize(
    "path", ["CLAUDE.md", "AGENTS.md", "gemini.md", "sub/Agent.md", "CLAUDE.local.md"]
)
def test_instructions_of_a_host_are_not_repeated_even_if_they_were_indexed(project, path):
    project.index({"ledger.md": LEDGER})
    (project.root / path).parent.mkdir(exist_ok=True)
    (project.root / "ledger.md").rename(project.root / path)
    database = sqlite3.connect(project.runtime._path)
    database.execute("UPDATE sources SET path = ?", (path,))
    database.commit()
    database.close()
    found = project.runtime.explain(ASK)
    assert (found.hits, found.silence_reason) == ([], "policy_source")


def test_row_that_was_changed_behind_our_back_is_not_told(project):
    project.index({"ledger.md": LEDGER})
    database = sqlite3.connect(project.runtime._path)
    database.execute("UPDATE chunks SET text = replace(text, 'lose', 'gain')")
    database.commit()
    database.close()
    assert gates(project) == {"ledger.md": "damaged"}


def test_same_text_in_two_files_is_told_once(project):
    project.index({"a.md": LEDGER, "b.md": LEDGER})
    assert len(project.sources_of(ASK)) == 1
    assert "duplicate" in gates(project).values()


def line(number, words):
    return f"{number} " + " ".join(f"gateway{number}x{n}" for n in range(words - 1))


@pytest.mark.parametrize("state", ["as indexed", "moved"])
def test_chunks_that_share_most_of_their_lines_are_told_once(project, state):
    lines = [line(number, 22) for number in range(10)] + [line(number, 20) for number in (10, 11)]
    text = "# Gateways\n\n" + "\n".join(lines) + "\n"
    project.index({"gateways.md": text})
    if state == "moved":
        (project.root / "gateways.md").write_text(f"# News\n\nNone.\n\n{text}")
    found = project.runtime.explain("gateways 9 gateway9x1 gateway10x1", gated=False)
    assert [one.gate for one in found.candidates] == ["", "duplicate"]


def test_neighbours_that_share_a_few_lines_are_both_told(project):
    text = "# Gateways\n\n" + "\n".join(line(number, 20) for number in range(20)) + "\n"
    project.index({"gateways.md": text})
    found = project.runtime.explain("gateways 9 gateway9x1 gateway10x1", gated=False)
    assert [one.gate for one in found.candidates] == ["", ""]


def test_parts_of_one_long_line_are_no_repetition(project):
    project.index({"gateways.md": "# Gateways\n\n" + line(1, 400) + "\n"})
    found = project.runtime.explain("gateways gateway1x1 gateway1x399", gated=False)
    assert [one.gate for one in found.candidates] == ["", ""]


REST = " ".join(f"Entry {n} is booked by rule {n}." for n in range(20))


def test_copy_with_another_word_is_told_once(project):
    copies = {
        f"{who}/ledger.md": f"{LEDGER}\n{REST}\n\nWritten by {who}.\n" for who in ("ada", "bob")
    }
    project.index(copies)
    assert len(project.sources_of(ASK)) == 1


def test_copy_with_another_number_is_told_too(project):
    copies = {
        f"{place}.md": f"{LEDGER}\n{REST}\n\nErased after {days} days.\n"
        for place, days in (("eu", 90), ("us", 365))
    }
    project.index(copies)
    assert len(project.sources_of(ASK)) == 2


def test_many_copies_do_not_crowd_out_the_rest(project):
    copies = {f"v{n}/ledger.md": LEDGER for n in range(30)}
    project.index({**copies, "quirks.md": "# Quirks\n\nThe ledger in minor units: settle twice.\n"})
    assert "quirks.md" in project.sources_of(ASK, gated=False)


def test_short_texts_that_differ_in_one_word_are_both_told(facts):
    runtime = facts(
        *(f"The gateway of the {name} cluster drains for 30 s." for name in ("red", "blue"))
    )
    assert len(runtime.query("how long does the gateway of a cluster drain?").hits) == 2


RECORD = """# Ledger in minor units

## Context

Floats lose cents when we settle the ledger, why and how often was asked in May.

## Decision Drivers

Settle quickly.

## Decision

Integers in the smallest unit of a currency, everywhere.
"""


def test_what_was_decided_comes_right_behind_what_was_asked(project):
    others = {f"n{n}.md": f"# Note {n}\n\nWe settle the ledger with bank {n}.\n" for n in range(9)}
    project.index({"docs/adr/0001-ledger.md": RECORD, **others})
    hits = project.runtime.query("why do floats lose cents when we settle?", gated=False).hits
    assert [hit.heading.rpartition(" > ")[2] for hit in hits[:2]] == ["Context", "Decision"]


MADR = """# Ledger

## Status

accepted

## Decision Drivers

* The rules of the tax office, which are long and change every year or so.

## Decision Makers

Ada and Bob, after a long walk through the rain along the river.

## Decision Outcome

Integers in the smallest unit of a currency, everywhere.
"""


@pytest.mark.parametrize("prompt", ["what did ADR-7 decide?", "docs/adr/0007-ledger.md"])
def test_record_that_is_named_answers_with_its_outcome(project, prompt):
    project.index({"docs/adr/0007-ledger.md": MADR, "b.md": "# B\n\nSee ADR-8, ADR-9.\n"})
    hits = project.runtime.query(prompt).hits
    assert [hit.heading.rpartition(" > ")[2] for hit in hits[:1]] == ["Decision Outcome"]


def test_record_of_another_number_is_no_answer(project):
    adr = "# {}\n\n## Decision\n\nWe keep the archive of ADR-8 for {} days, as ADR-8 says.\n"
    project.index({"docs/adr/0008-archive.md": adr.format("Archive", 30)})
    assert project.sources_of("ADR 4") == []
