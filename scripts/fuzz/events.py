"""Events as a host, a broken host or nobody would send them; most reach the store."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import NamedTuple

from fuzz.scene import QUESTIONS, Scene

_WORD_LIST = r"""
ledger minor units integer floats cents queue importer RabbitMQ customer bastion port deploy
rollback migrations retries back off attempt get_user_by_id deploy.py --previous ADR-2 #12
docs/ledger.md the a of and not why how what is склад остатки 库存 重新计算 כלל ünïcödé ﬁ
AND OR NOT NEAR NEAR(a,2) * ^ - + : " ' ( ) [ ] { } ` ``` ~~~ < > & | \ / . , ; % $ @ = ?
ledger* heading:ledger body:x -ledger chunk_fts rowid match; DROP TABLE chunks --
</agentlas-memory-context> <system-reminder> <!-- --> project[x]: @import ${HOME} `id` %s {0}
"""
_WORDS = _WORD_LIST.split()
_HARD = (
    *(
        "\0",
        "\x1b[2J",
        "\x9b",
        "\u2028",
        "\u202e",
        "\u200b",
        "\ufeff",
        "\ud800",
        "\udfff",
        "\uffff",
    ),
    *(
        "e\u0301" * 40,
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U000e0041",
        "\u0345",
        "ß",
        "İ",
    ),
    *("\r", "\n", "\t", "\x0b", "\x85", "ﷺ", "가" * 50, "क्षि", "\u1112\u1161\u11ab"),
)
_LINES = (
    '{"level": "error", "msg": "timeout", "at": 1700000000}\n',
    "2024-01-01T00:00:00Z ERROR importer: queue is full\n",
    "@@ -1,4 +1,4 @@\n-old\n+new\n",
    '  File "/srv/app.py", line 3, in main\n',
    "```python\nledger = 1.0\n```\n",
    "| a | b |\n|---|---|\n",
    "> We settle the ledger.\n",
)
_FIELDS = (
    "cwd",
    "prompt",
    "session_id",
    "source",
    "hook_event_name",
    "agent_id",
    "transcript_path",
)
_SOURCES = ("startup", "resume", "clear", "compact", "fork", "", "CLEAR")
_EVENTS = ("UserPromptSubmit", "SessionStart", "PreInvocation", "Stop", "", "userpromptsubmit")


class Event(NamedTuple):
    """What one run is given."""

    arguments: list[str]
    stdin: bytes


def make_event(chance: random.Random, scene: Scene) -> Event:
    """Return an event; three of four are whole ones with a fuzzed prompt in the project."""
    host = chance.choice(("raw", "claude"))
    name = chance.choices(_EVENTS, (12, 2, 1, 1, 1, 1))[0]
    payload: dict[str, object] = {
        "session_id": f"s{chance.randrange(1000)}",
        "cwd": _folder(chance, scene),
        "hook_event_name": name if chance.random() < 0.8 else "UserPromptSubmit",
        "prompt": make_prompt(chance),
        "source": chance.choice(_SOURCES),
    }
    if chance.random() < 0.15:
        _change_fields(chance, payload)
    text = json.dumps(payload, ensure_ascii=chance.random() < 0.5)
    data = text.encode("utf-8", "surrogatepass")
    if chance.random() < 0.2:
        data = mutate(chance, data)
    return Event(_arguments(chance, host, name), data)


def _folder(chance: random.Random, scene: Scene) -> str:
    project = str(scene.project)
    if chance.random() < 0.9:
        return chance.choice((project, project, f"{project}/docs", f"{project}/./docs/../docs/"))
    return chance.choice(
        (str(scene.home), str(scene.elsewhere), "/", "", ".", project + "\0", "x" * 5000, "~", "//")
    )


def make_prompt(chance: random.Random) -> str:
    """Return words of the documents, of nobody, and what is hard to read, in any mixture."""
    parts = [chance.choice(QUESTIONS)] if chance.random() < 0.5 else []
    for _ in range(chance.choice((0, 1, 3, 8, 30))):
        kind = chance.random()
        if kind < 0.6:
            parts.append(chance.choice(_WORDS))
        elif kind < 0.75:
            parts.append(chance.choice(_HARD))
        elif kind < 0.85:
            parts.append(chance.choice(_LINES) * chance.choice((1, 1, 5, 60)))
        elif kind < 0.95:
            parts.append("".join(map(chr, _code_points(chance))))
        else:
            parts.append(chance.choice("aй库 .-_'\"(*") * chance.choice((2, 300, 3000, 20_000)))
    chance.shuffle(parts)
    return chance.choice((" ", " ", "", "\n")).join(parts)


def _code_points(chance: random.Random) -> list[int]:
    highest = chance.choice((0x7F, 0x24F, 0x7FF, 0xFFFF, 0x10FFFF))
    return [chance.randrange(highest + 1) for _ in range(chance.randrange(1, 20))]


def some_value(chance: random.Random, depth: int = 0) -> object:
    """Return any JSON value."""
    kind = chance.randrange(9 if depth < 3 else 7)
    if kind == 7:
        return [some_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 8:
        return {make_prompt(chance)[:20]: some_value(chance, depth + 1)}
    return (
        *(None, True, chance.randrange(-(1 << 70), 1 << 70), chance.uniform(-1e308, 1e308)),
        *("", make_prompt(chance), float("nan")),
    )[kind]


def _change_fields(chance: random.Random, payload: dict[str, object]) -> None:
    for _ in range(chance.randrange(1, 4)):
        field = chance.choice(_FIELDS)
        if chance.random() < 0.4:
            payload.pop(field, None)
        else:
            payload[chance.choice((field, make_prompt(chance)[:9]))] = some_value(chance)


def _arguments(chance: random.Random, host: str, event: str) -> list[str]:
    arguments = ["--host", host, "--event", event]
    if chance.random() < 0.9:
        return arguments
    change = chance.randrange(6)
    if change == 0:
        arguments[chance.randrange(4)] = chance.choice(_WORDS)
    elif change == 1:
        del arguments[chance.randrange(4)]
    elif change == 2:
        arguments += ["--prompt", make_prompt(chance).replace("\0", "")[:5000]]
    elif change == 3:
        arguments = [f"--host={host}", f"--event={event}", "--", "--cwd"]
    elif change == 4:
        arguments.insert(0, chance.choice(_WORDS))
    else:
        chance.shuffle(arguments)
    return [text.encode("utf-8", "replace").decode() for text in arguments]


def mutate(chance: random.Random, data: bytes) -> bytes:
    """Return bytes with one to three changes."""
    for _ in range(chance.randrange(1, 4)):
        data = chance.choice(_BYTES)(chance, data or b"\0")
    return data


def _flip(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 5)):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: 1 + chance.randrange(len(data))]


def _insert(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data))
    marks = (
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b",",
        b":",
        b"\\ud800",
        b"\xff\xfe",
        b"\0",
        b"\xef\xbb\xbf",
    )
    piece = chance.choice((*marks, chance.randbytes(chance.randrange(9)), b"[" * 3000))
    return data[:at] + piece + data[at:]


def _repeat(chance: random.Random, data: bytes) -> bytes:
    start = chance.randrange(len(data))
    piece = data[start : start + chance.randrange(1, 80)]
    return data[:start] + piece * chance.choice((2, 3, 200)) + data[start:]


def _follow(chance: random.Random, data: bytes) -> bytes:
    return data + chance.choice((b"\n", b" {}", b"\0", data, b"}", b"\r\n\r\n"))


_BYTES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _flip,
    _cut,
    _insert,
    _repeat,
    _follow,
)
