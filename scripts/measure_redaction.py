"""Print how well credentials are told from what only looks like one.

    python scripts/measure_redaction.py [--data FOLDER]... [--misses]

The labelled set lies in tests/redaction/labelled: a shape for each rule of the public lists of
gitleaks and detect-secrets that names a provider, texts to put them into, and look-alikes. Secrets
are drawn from the shapes with a fixed seed, so that none stands in the repository. A FOLDER holds
`corpus.jsonl` files, whose texts hold hardly a secret. Where `detect-secrets` is installed it is
measured on the same set.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from agentlas_memory.redact import redact

LABELLED = Path(__file__).resolve().parents[1] / "tests" / "redaction" / "labelled"
CLASSES = {
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "alpha": string.ascii_letters,
    "alnum": string.ascii_letters + string.digits,
    "word": string.ascii_letters + string.digits + "_-",
    "b64": string.ascii_letters + string.digits + "+/",
    "b64url": string.ascii_letters + string.digits + "-_",
    "b32": string.ascii_uppercase + "234567",
}
_PART = re.compile(r"\{\{|\}\}|\{(\w+)(?::(\d+)(?:-(\d+))?)?\}")
_BREAKS = re.compile(r"[\s\"]|://")  # what cannot be a part of another URL
_LEAK = 8  # characters of a secret in a row that must not be left


class Case(NamedTuple):
    """A text with a secret in it; `random` are the parts of the secret that were drawn."""

    rule: str
    kind: str
    text: str
    random: tuple[str, ...]


def secrets_in_texts(seed: int = 7) -> Iterator[Case]:
    """Yield every shape in every text that suits it."""
    source = random.Random(seed)
    texts = [line.partition("|")[::2] for line in _lines("surroundings.txt")]
    for line in _lines("secrets.tsv"):
        rules, rule, name, pattern = line.split("\t")
        shape = _unescaped(pattern)
        for kind, text in texts:
            if ("{name}" in text) == bool(name) and not (kind == "url" and _BREAKS.search(shape)):
                secret, drawn = expand(shape, source)
                filled = _unescaped(text).replace("{name}", name)
                yield Case(f"{rules}/{rule}", kind, filled.replace("{secret}", secret), drawn)


def expand(pattern: str, source: random.Random) -> tuple[str, tuple[str, ...]]:
    """Return a secret of a shape, and the parts of it that were drawn."""
    drawn: list[str] = []

    def draw(part: re.Match[str]) -> str:
        name, least, most = part.groups()
        if name is None:
            return part.group()[0]
        if name == "uuid":
            digits = "".join(source.choices(CLASSES["hex"], k=32))
            text = "-".join(digits[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
        else:
            size = source.randint(int(least), int(most or least))
            text = "".join(source.choices(CLASSES[name], k=size))
        drawn.append(text)
        return text

    return _PART.sub(draw, pattern), tuple(drawn)


def _unescaped(text: str) -> str:
    return text.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")


def look_alikes() -> list[tuple[str, str]]:
    """Return (kind, text) of what must stay as it is."""
    return [line.partition("\t")[::2] for line in _lines("lookalikes.tsv")]  # type: ignore[misc]


def leaks(case: Case, redacted: str) -> bool:
    """Tell whether a good part of a secret is left in a text."""
    return any(
        part[at : at + _LEAK] in redacted
        for part in case.random
        for at in range(max(1, len(part) - _LEAK + 1))
        if len(part) >= _LEAK
    )


def measure(finds: Callable[[Case], bool], changes: Callable[[str], bool]) -> dict[str, object]:
    """Return the figures of one redactor, with what it missed and what it took for a secret."""
    cases, alike = list(secrets_in_texts()), look_alikes()
    missed = [case for case in cases if not finds(case)]
    wrong = [text for _, text in alike if changes(text)]
    return {
        "secrets": len(cases),
        "rules": len({case.rule for case in cases}),
        "recall": round(1 - len(missed) / len(cases), 4),
        "look_alikes": len(alike),
        "false_positives": round(len(wrong) / len(alike), 4),
        "missed": missed,
        "wrong": wrong,
    }


def ours() -> dict[str, object]:
    """Measure our own rules."""
    return measure(
        lambda case: not leaks(case, redact(case.text)), lambda text: redact(text) != text
    )


def in_corpus(folder: Path) -> tuple[int, int]:
    """Return (redactions, texts) of a folder's corpora."""
    found = texts = 0
    for file in sorted(folder.rglob("corpus.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            text = str(json.loads(line)["text"])
            texts += 1
            found += redact(text).count("[redacted:") - text.count("[redacted:")
    return found, texts


def detect_secrets() -> dict[str, object] | None:
    """Measure detect-secrets with its default settings on a file of all texts, None without it."""
    try:
        from detect_secrets import SecretsCollection
        from detect_secrets.settings import default_settings
    except ImportError:
        return None
    texts = [case.text for case in secrets_in_texts()] + [text for _, text in look_alikes()]
    secrets = SecretsCollection()
    with TemporaryDirectory() as folder, default_settings():
        file = Path(folder) / "texts.txt"
        file.write_text("\n".join(texts), encoding="utf-8")
        secrets.scan_file(str(file))
    values = sorted({hit.secret_value or "" for _, hit in secrets} - {""}, key=len, reverse=True)

    def without(text: str) -> str:
        for value in values:
            if value in text:
                text = text.replace(value, "")
        return text

    return measure(lambda c: not leaks(c, without(c.text)), lambda text: without(text) != text)


def _lines(name: str) -> list[str]:
    lines = (LABELLED / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("# ")]


def _print(name: str, figures: dict[str, object], misses: bool) -> None:
    shown = {key: value for key, value in figures.items() if key not in ("missed", "wrong")}
    print(name, *(f"{key} {value}" for key, value in shown.items()), sep="  ")
    if misses:
        for case in figures["missed"]:  # type: ignore[attr-defined]
            print(f"  missed {case.rule} ({case.kind}): {case.text!r}")
        for text in figures["wrong"]:  # type: ignore[attr-defined]
            print(f"  changed {text!r} -> {redact(text)!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, action="append", default=[])
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    _print("agentlas-memory", ours(), options.misses)
    for folder in options.data:
        found, texts = in_corpus(folder)
        print(f"{folder}: {found} redactions in {texts} texts, {1e4 * found / texts:.2f} a 10,000")
    other = detect_secrets()
    if other is not None:
        _print("detect-secrets", other, False)


if __name__ == "__main__":
    main()
