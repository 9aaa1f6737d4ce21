"""An agent's database with wrong bytes: what is told is what the agent learned, or nothing."""

import random
import sqlite3

import pytest

from agentlas_memory.deadline import Deadline
from agentlas_memory.embedding.model import open_model
from agentlas_memory.ontology.ledger import Ledger
from agentlas_memory.ontology.projection import project_ledger
from agentlas_memory.ontology.schema import EXPERIENCE
from agentlas_memory.ontology.store import StoreUnusable, open_store
from agentlas_memory.recall.experience import recall_experience

AGENT = "hub:keeper"
TEXTS = {
    f"n{n}": f"Schema migration {n} needs a rollback plan, kept in file {n}" for n in range(60)
}
OLD = {"id": "old", "text": "Schema migration needs no rollback plan at all"}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    ledger = Ledger()
    for identity, text in TEXTS.items():
        ledger.apply({"id": identity, "text": text})
    ledger.apply(OLD)
    ledger.apply({"op": "supersede", "id": "old", "by": "n0"})
    path = tmp_path_factory.mktemp("sound") / "experience.sqlite"
    project_ledger(ledger, AGENT, path)
    return path.read_bytes()


def ask(path):
    store = open_store(str(path), Deadline(5000), EXPERIENCE)
    try:
        found = recall_experience(
            store,
            "does every schema migration need a rollback plan?",
            agent_id=AGENT,
            asset=open_model(""),
            deadline=Deadline(5000),
            budget=5000,
        )
    finally:
        store.close()
    return {hit.row.path: hit.row.text for hit in found.hits}


def test_the_sound_one_answers(sound, tmp_path):
    path = tmp_path / "experience.sqlite"
    path.write_bytes(sound)
    assert 0 < len(ask(path)) <= len(TEXTS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_wrong_bytes_are_never_told(sound, tmp_path, seed):
    dice = random.Random(seed)
    path = tmp_path / "experience.sqlite"
    answered = 0
    for _ in range(150):
        path.write_bytes(spoil(bytearray(sound), dice))
        try:
            told = ask(path)
        except (StoreUnusable, sqlite3.Error, ValueError, TypeError, OverflowError):
            continue  # the hook reports it and is silent
        answered += bool(told)
        assert told.items() <= TEXTS.items()
    assert answered > 20


def spoil(data, dice):
    kind = dice.randrange(4)
    if kind == 0:
        for _ in range(dice.randrange(1, 9)):
            data[dice.randrange(100, len(data))] ^= 1 << dice.randrange(8)
    elif kind == 1:
        at = dice.randrange(len(data))
        data[at : at + 64] = dice.randbytes(64)
    elif kind == 2:
        one, other = (4096 * dice.randrange(1, len(data) // 4096) for _ in range(2))
        data[one : one + 4096], data[other : other + 4096] = (
            data[other : other + 4096],
            data[one : one + 4096],
        )
    else:
        del data[dice.randrange(100, len(data)) :]
    return bytes(data)
