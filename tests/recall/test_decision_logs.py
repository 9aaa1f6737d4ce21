"""Several decisions in one file fall one by one, and a status counts from the moment it is told."""

import pytest
from recall.ledger import capsule_of, gates

LOG = """# Architecture decisions

## ADR-101: Postgres

Status: Accepted

### Decision

The shop keeps its orders in Postgres.

## ADR-102: Search on Typesense

{}

### Context

The shop needs a search that forgives typing errors.

### Decision

Shop search runs on Typesense with one collection per country.

## ADR-104: Hatchet

Status: Accepted

### Decision

Recurring billing runs are scheduled by Hatchet.
"""
SEARCH = "does the shop search run on typesense?"


def told(project, question):
    found = project.runtime.explain(question)
    return capsule_of(found) if found.hits else ""


@pytest.mark.parametrize(
    "status",
    [
        "Status: Rejected",
        "**Status:** Superseded by ADR-104",
        "- Status: deprecated",
        "### Status\n\nSuperseded by [Hatchet](#hatchet)",
        "### Status\n\n- 2023-01-01: proposed\n- 2023-02-01: rejected",
        "Superseded by ADR-104",
    ],
)
def test_one_of_several_decisions_falls_by_itself(project, status):
    project.index({"docs/architecture-decisions.md": LOG.format(status)})
    assert "Typesense" not in told(project, SEARCH)
    assert "orders in Postgres" in told(project, "where does the shop keep its orders?")
    assert "scheduled by Hatchet" in told(project, "how are recurring billing runs scheduled?")


def test_one_that_holds_is_told_as_ever(project):
    project.index({"docs/architecture-decisions.md": LOG.format("Status: Accepted")})
    assert "Shop search runs on Typesense" in told(project, SEARCH)


@pytest.mark.parametrize(
    "heading",
    [
        "ADR-102: Search on Typesense (REJECTED)",
        "[Rejected] Typesense",
        "~~Typesense~~",
        "Rejected",
    ],
)
def test_a_heading_may_say_it(project, heading):
    log = LOG.format("").replace("ADR-102: Search on Typesense", heading)
    project.index({"docs/decision-log.md": log})
    assert "Typesense" not in told(project, SEARCH)
    assert "orders in Postgres" in told(project, "where does the shop keep its orders?")


def test_what_is_no_log_of_decisions_keeps_its_sections(project):
    api = "# API\n\n## GET /v1/vouchers\n\nStatus: deprecated\n\nReturns each voucher of a shop.\n"
    project.index({"docs/api.md": api})
    assert "Returns each voucher" in told(project, "what does GET /v1/vouchers return?")


@pytest.mark.parametrize(
    "status",
    [
        *("Abandoned", "Not accepted", "Won't do", "Retired", "Reverted", "Cancelled"),
        *("Accepted -> Deprecated", "Accepted on 2023-01-01, withdrawn on 2024-02-03"),
        *("Accepted, superseded by ADR-12", "- 2023-01-01: accepted\n- 2024-01-01: rejected"),
    ],
)
def test_words_by_which_a_record_says_that_it_does_not_hold(project, status):
    text = (
        f"# 11. Images\n\n## Status\n\n{status}\n\n## Decision\n\nCloudflare resizes all images.\n"
    )
    project.index({"docs/adr/0011-images.md": text})
    assert told(project, "does cloudflare resize the images?") == ""


@pytest.mark.parametrize("status", ["On hold", "In review", "Deferred"])
def test_words_by_which_a_record_says_that_it_is_a_proposal(project, status):
    text = (
        f"# 11. Images\n\n## Status\n\n{status}\n\n## Decision\n\nCloudflare resizes all images.\n"
    )
    project.index({"docs/adr/0011-images.md": text})
    assert "; proposed]: Cloudflare" in told(project, "does cloudflare resize the images?")


@pytest.mark.parametrize(
    "head",
    [
        "# [REJECTED] Images",
        "# Images\n\n> [!WARNING]\n> This decision is no longer in effect.",
        "# Images\n\n![Status](https://img.shields.io/badge/status-rejected-red)",
    ],
)
def test_where_else_a_record_says_it(project, head):
    text = f"{head}\n\n## Decision\n\nCloudflare resizes all images.\n"
    project.index({"docs/adr/0011-images.md": text})
    assert told(project, "does cloudflare resize the images?") == ""


RECORD = """---
date: 2024-01-01
---
# 10. Carrier polling

Status: Accepted

## Rejected alternatives

A webhook of each carrier.

## Decision

Carriers are polled every 15 minutes.
"""
POLLING = "how often are carriers polled?"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Status: Accepted", "Status: Rejected"),
        ("Status: Accepted", "Status: Superseded by ADR-30"),
        ("date: 2024-01-01", "date: 2024-01-01\nstatus: deprecated"),
        ("# 10. Carrier polling", "# 10. Carrier polling (superseded)"),
        ("Status: Accepted", "> **Deprecated.** See ADR-30."),
    ],
)
def test_a_status_that_changed_counts_before_the_next_index(project, before, after):
    path = "docs/adr/0010-polling.md"
    project.index({path: RECORD})
    assert "every 15 minutes" in told(project, POLLING)
    (project.root / path).write_text(RECORD.replace(before, after))
    assert told(project, POLLING) == ""
    assert project.runtime.explain(POLLING).silence_reason == "stale"


def test_another_change_leaves_a_record_to_be_told(project):
    path = "docs/adr/0010-polling.md"
    project.index({path: RECORD})
    (project.root / path).write_text(RECORD.replace("A webhook of", "Webhooks for") + "\nMore.\n")
    assert "every 15 minutes" in told(project, POLLING)


def test_what_stands_beside_a_stale_answer_does_not_take_its_place(project):
    path, question = "docs/graphql.md", "do we have a public GraphQL API?"
    rest = "# Public API\n\nThe public API is versioned in its path, as in /v2/orders.\n"
    project.index({path: "# GraphQL\n\nWe have a public GraphQL API.\n", "docs/api.md": rest})
    assert "We have a public GraphQL API" in told(project, question)
    (project.root / path).write_text("# GraphQL\n\nThe GraphQL API is for partners.\n")
    assert told(project, question) == ""
    assert gates(project, question) == {path: "stale", "docs/api.md": "beside_fallen"}
