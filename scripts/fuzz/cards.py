"""Routing cards from anybody: each is accepted or rejected with its condition, never an exception.

`python -m fuzz.cards --count 20000`.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from agentlas_memory.routing_card import CONDITIONS, ROUTING_CARD, CardRejected, verify_card
from fuzz.campaign import Campaign, main, throwaway
from fuzz.events import make_prompt, mutate, some_value

_AGENT_CARD = "agents/reviewer.json"
_MOST_SECONDS = 0.5
_PATH_LIST = r"""
. .. / /etc/passwd ../../etc/passwd agents agents/../agents/../.. agents/link agents/loop
agents/fifo agents/device agents\reviewer.json agents/./reviewer.json agents//reviewer.json
agents/../agents/reviewer.json
"""
_PATHS = [*_PATH_LIST.split(), "", "\0", "\ud800", "a/" * 3000]
_SLUG_LIST = "- Reviewer re_viewer ｒｅｖｉｅｗｅｒ ﬁ İ .. ../x ß K / reviewer/../x"
_SLUGS = [
    *_SLUG_LIST.split(),
    *("", "reviewer ", "reviewer\0", "\ud800", "\u0345", "a" * 64, "a" * 65, "a" * 300),
]


def run(campaign: Campaign, first: int, count: int) -> None:
    """Verify cards of every kind."""
    with throwaway() as folder:
        root, home = folder / "project", folder / "home/.agentlas"
        _make_project(root, home)
        for number in range(first, first + count):
            chance = campaign.random(number)
            trusted = _write_cards(chance, root)
            start = time.perf_counter()
            try:
                agent = verify_card(str(root), str(home), trusted)
                campaign.figures["accepted"] += 1
                if agent.slug != "reviewer":
                    campaign.fault(str(number), f"accepted {agent.slug!r}")
            except CardRejected as rejected:
                campaign.figures[f"rejected: {rejected.condition}"] += 1
                if rejected.condition not in CONDITIONS:
                    campaign.fault(str(number), f"no such condition: {rejected.condition}")
            except Exception as error:
                campaign.fault(str(number), f"{type(error).__name__}: {error}")
            seconds = time.perf_counter() - start
            campaign.measure(seconds)
            if seconds > _MOST_SECONDS:
                campaign.fault(str(number), f"{seconds:.1f} s")


def _make_project(root: Path, home: Path) -> None:
    for place in (root / ".agentlas", root / "agents"):
        place.mkdir(parents=True)
    (root / "agents/link").symlink_to("/etc/passwd")
    (root / "agents/loop").symlink_to("loop")
    (root / "agents/device").symlink_to("/dev/zero")
    os.mkfifo(root / "agents/fifo")
    database = home / "networking/hub-agents/reviewer/memory/experience.sqlite"
    database.parent.mkdir(parents=True)
    database.touch(mode=0o600)


def _write_cards(chance: random.Random, root: Path) -> str:
    """Write both cards and return the hash that the user is to have said yes to."""
    agent_card = {"slug": "reviewer", "name": make_prompt(chance)[:80]}
    if chance.random() < 0.2:
        agent_card["slug"] = chance.choice(_SLUGS)
    agent_data = _encode(chance, agent_card, 0.1)
    _put(chance, root / _AGENT_CARD, agent_data)
    card: dict[str, object] = {
        "slug": chance.choice(("reviewer", "Reviewer", "reviewer ")),
        "routing_status": chance.choice(("routing_ready", "trusted")),
        "agent_card_ref": {
            "path": _AGENT_CARD,
            "content_hash": chance.choice(("", "sha256:")) + hashlib.sha256(agent_data).hexdigest(),
        },
    }
    if chance.random() < 0.6:
        _change(chance, card)
    data = _encode(chance, card, 0.3)
    _put(chance, root / ROUTING_CARD, data)
    trusted = hashlib.sha256(data).hexdigest()
    return trusted if chance.random() < 0.9 else chance.choice(("", "0" * 64))


def _change(chance: random.Random, card: dict[str, object]) -> None:
    places: list[tuple[dict[str, object], str]] = [(card, key) for key in card]
    reference = card["agent_card_ref"]
    if isinstance(reference, dict):
        places += [(reference, "path"), (reference, "content_hash")]
    where, key = chance.choice(places)
    kind = chance.random()
    if kind < 0.2:
        del where[key]
    elif kind < 0.5:
        where[key] = some_value(chance)
    else:
        where[key] = chance.choice(_PATHS if key == "path" else _SLUGS)


def _encode(chance: random.Random, card: dict[str, object], rate: float) -> bytes:
    text = json.dumps(card, ensure_ascii=chance.random() < 0.5)
    data = text.encode("utf-8", "surrogatepass")
    if chance.random() < rate:
        data = chance.choice(_SHAPES)(chance, data)
    return data


_SHAPES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    mutate,
    mutate,
    mutate,
    lambda chance, data: b"[" * chance.choice((10, 40, 60_000)) + data,
    lambda chance, data: b'{"a":' * 9000 + data + b"}" * 9000,
    lambda chance, data: data + b" " * chance.choice((1, 65_536, 1 << 21)),
    lambda chance, data: b"",
    lambda chance, data: data.decode("utf-8", "replace").encode("utf-16"),
)


def _put(chance: random.Random, file: Path, data: bytes) -> None:
    """Write a file, or put something else in its place."""
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)
    kind = chance.random()
    if kind < 0.97:
        file.write_bytes(data)
    elif kind < 0.98:
        file.mkdir()
    elif kind < 0.99:
        os.mkfifo(file)
    else:
        file.symlink_to(chance.choice(("/dev/zero", "nowhere", file.name, "/etc/passwd")))


if __name__ == "__main__":
    sys.exit(main("cards", run, 20_000))
