"""Damage a store and its sidecar at random: what the hook still says must stand in the intact one.

`python -m fuzz.corruption --count 500 --seed S` with scripts/ on the path of an installed package.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path

from fuzz.answers import Intact, WrongAnswer, capsule_in
from fuzz.campaign import Campaign, main, throwaway
from fuzz.scene import DOCUMENTS, QUESTIONS, Hooks, Scene

_PAGE = 4096
Damage = Callable[[random.Random, bytearray, bytes], None]

# What another project says about the same things: its pages must never be taken for ours.
_OTHERS = {
    path: text.replace("integer", "decimal").replace("49222", "22").replace("never", "always")
    for path, text in DOCUMENTS.items()
}


def _flip(chance: random.Random, data: bytearray, other: bytes) -> None:
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _overwrite(chance: random.Random, data: bytearray, other: bytes) -> None:
    at, size = chance.randrange(len(data)), chance.choice((1, 2, 4, 16, 200))
    value = chance.choice((b"\0" * size, b"\xff" * size, chance.randbytes(size)))
    data[at : at + size] = value[: len(data) - at]


def _truncate(chance: random.Random, data: bytearray, other: bytes) -> None:
    del data[chance.choice((chance.randrange(len(data)), _page(chance, data))) :]


def _extend(chance: random.Random, data: bytearray, other: bytes) -> None:
    data += chance.randbytes(chance.choice((1, 100, _PAGE)))


def _zero_page(chance: random.Random, data: bytearray, other: bytes) -> None:
    _put(data, _page(chance, data), bytes(_PAGE))


def _swap_pages(chance: random.Random, data: bytearray, other: bytes) -> None:
    one, two = _page(chance, data), _page(chance, data)
    first, second = bytes(data[one : one + _PAGE]), bytes(data[two : two + _PAGE])
    _put(data, one, second)
    _put(data, two, first)


def _copy_page(chance: random.Random, data: bytearray, other: bytes) -> None:
    start = _page(chance, data)
    _put(data, _page(chance, data), bytes(data[start : start + _PAGE]))


def _splice_page(chance: random.Random, data: bytearray, other: bytes) -> None:
    """Put a page of another store in, at the same place or elsewhere."""
    at = _page(chance, data)
    source = chance.choice((at, _page(chance, other)))
    _put(data, at, other[source : source + _PAGE])


def _shift(chance: random.Random, data: bytearray, other: bytes) -> None:
    at = chance.randrange(len(data))
    if chance.random() < 0.5:
        data[at:at] = chance.randbytes(chance.randrange(1, 9))
    else:
        del data[at : at + chance.randrange(1, 9)]


def _words(chance: random.Random, data: bytearray, other: bytes) -> None:
    """Change words of the texts where they stand, so that all else stays in order."""
    for old, new in ((b"integer", b"decimal"), (b"49222", b"00022"), (b"never", b"alway")):
        if chance.random() < 0.7:
            data[:] = data.replace(old, new)


def _header(chance: random.Random, data: bytearray, other: bytes) -> None:
    data[chance.randrange(100)] = chance.randrange(256)


DAMAGES: tuple[Damage, ...] = (
    *(_flip, _overwrite, _truncate, _extend, _zero_page, _swap_pages, _copy_page),
    *(_splice_page, _splice_page, _shift, _words, _header),
)


def _page(chance: random.Random, data: bytes | bytearray) -> int:
    return chance.randrange(max(1, len(data) // _PAGE)) * _PAGE


def _put(data: bytearray, at: int, page: bytes) -> None:
    data[at : at + _PAGE] = page[: max(0, len(data) - at)]


def damage(chance: random.Random, data: bytes, other: bytes) -> tuple[bytes, str]:
    """Return a file after one to three damages, and their names."""
    changed = bytearray(data)
    names = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        if not changed:
            break
        method = chance.choice(DAMAGES)
        method(chance, changed, other)
        names.append(method.__name__[1:])
    return bytes(changed), "+".join(names)


def run(campaign: Campaign, first: int, count: int) -> None:
    """Damage the store, the sidecar or both, and ask the hook, a process each time."""
    with throwaway() as folder, Hooks() as hooks:
        scene = Scene(folder)
        other = Scene(folder / "other", _OTHERS)
        intact = Intact(scene.store)
        files = {scene.store: other.store, scene.sidecar: other.sidecar}
        contents = {file: (file.read_bytes(), twin.read_bytes()) for file, twin in files.items()}
        for number in range(first, first + count):
            chance = campaign.random(number)
            how = _damage_files(chance, contents)
            _ask(campaign, f"{number} ({how})", chance, hooks, scene, intact)


def _damage_files(chance: random.Random, contents: Mapping[Path, tuple[bytes, bytes]]) -> str:
    store, sidecar = contents
    chosen = chance.choice(((store,), (store,), (sidecar,), (store, sidecar)))
    told = []
    for file, (data, other) in contents.items():
        changed, how = damage(chance, data, other) if file in chosen else (data, "")
        file.write_bytes(changed)
        told.append(how)
    return " / ".join(told)


def _ask(
    campaign: Campaign,
    name: str,
    chance: random.Random,
    hooks: Hooks,
    scene: Scene,
    intact: Intact,
) -> None:
    host, event = (
        chance.choice(("raw", "claude")),
        chance.choice(("UserPromptSubmit", "UserPromptSubmit", "UserPromptSubmit", "SessionStart")),
    )
    fields = {"hook_event_name": event, "session_id": name}
    done = hooks.run(scene, scene.event(chance.choice(QUESTIONS), **fields), host=host, name=event)
    campaign.measure(done.seconds, done.peak_mib)
    for fault in done.faults():
        campaign.fault(name, fault)
    try:
        capsule = capsule_in(done.stdout, host, event)
        if capsule:
            intact.check(capsule)
    except (WrongAnswer, ValueError, KeyError) as error:
        campaign.fault(name, f"{type(error).__name__}: {error}")
    else:
        campaign.figures["answered" if capsule else "silent"] += 1


if __name__ == "__main__":
    raise SystemExit(main("corruption", run, 500))
