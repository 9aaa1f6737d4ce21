"""What an agent of a test learned, and how its two files are read."""

import sqlite3
from contextlib import closing

CHECKLIST = "Use a rollback checklist for every schema migration"


def content(memory):
    """Return all that the agent's database says, as SQL."""
    with closing(sqlite3.connect(memory / "experience.sqlite")) as connection:
        return list(connection.iterdump())


def ledger(memory):
    """Return the lines of the agent's ledger."""
    return (memory / "experience.jsonl").read_text(encoding="utf-8").splitlines()
