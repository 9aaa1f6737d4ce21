"""Names of entities, normalised: the same thing gets the same key wherever it is named.

A key is case-folded and carries its kind (`path:`, `adr:`, `issue:`, `id:`, `heading:`), but
for identifiers, which a prompt names without saying what they are.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

ADR = re.compile(r"\bADR[-_ #]{0,2}0*([1-9]\d{0,4})\b", re.IGNORECASE)
_ADR_FOLDERS = frozenset(
    {"adr", "adrs", "decision", "decisions", "decision-log", "decision-records"}
    | {"architecture-decisions", "architecture-decision-records"}
)
_ADR_FILE = re.compile(r"(?:adr[-_ ]?)?0*([1-9]\d{0,4})(?:[-_. ]|$)", re.IGNORECASE)
_NO_RECORD = re.compile(r"readme|index|.*template", re.IGNORECASE)
_OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
_NUMBERING = re.compile(r"(?:\d+(?:\.\d+)*[.):]?|[A-Z][.)])\s+")
_WORD = re.compile(r"[^\W_]+(?:['’.+#_-]+[^\W_]+)*[+#]*")
_MAX_HEADING_WORDS = 12
# Headings that every second document has say nothing about what stands under them.
_GENERIC = """
about, abstract, acknowledgements, added, alternatives, alternatives considered, api,
arguments, background, benefits, bug fixes, changed, changelog, changes, conclusion, config,
configuration, cons, consequences, considered options, contact, contents, context, context
and problem statement, contributing, credits, date, deciders, decision, decision drivers,
decision outcome, decisions, dependencies, deprecated, description, details, development,
docs, documentation, errors, example, examples, faq, features, fixed, getting started,
goals, how it works, how to use, improvements, install, installation, intro, introduction,
issues, license, links, more information, motivation, negative consequences, next steps,
non-goals, note, notes, open questions, options, other, output, overview, parameters,
positive consequences, prerequisites, problem, problem statement, pros, pros and cons, pros
and cons of the options, purpose, questions, quick start, quickstart, rationale, readme,
references, related, release notes, removed, requirements, resources, results, returns,
risks, roadmap, running tests, security, see also, settings, setup, solution, status, steps,
summary, support, table of contents, tbd, test, testing, tests, tips, title, to do, todo,
tools, troubleshooting, unreleased, usage, warning, what, when, who, why, how
"""
_GENERIC_HEADINGS = frozenset(" ".join(_GENERIC.split()).split(", "))


class Entity(NamedTuple):
    """A thing that can be named: its key, the name as it was written, its kind."""

    key: str
    name: str
    kind: str


def fold(name: str) -> str:
    """Return a name as keys hold it."""
    return (name if name.isascii() else unicodedata.normalize("NFKC", name)).casefold()


def path_entity(path: str) -> Entity:
    """Return the entity of a file, by its path inside the project."""
    return Entity(f"path:{fold(path)}", path, "path")


def adr_entity(number: str) -> Entity:
    """Return the entity of an architecture decision record."""
    return Entity(f"adr:{int(number)}", f"ADR-{int(number)}", "adr")


def issue_entity(number: str) -> Entity:
    """Return the entity of an issue or pull request of this project."""
    return Entity(f"issue:{int(number)}", f"#{int(number)}", "issue")


def identity_entity(value: str) -> Entity:
    """Return the entity of a front-matter id."""
    return Entity(f"id:{fold(value.strip())}", value.strip(), "id")


def identifier_entity(name: str) -> Entity:
    """Return the entity of a name in code."""
    return Entity(fold(name), name, "identifier")


def heading_entity(text: str) -> Entity | None:
    """Return the entity of a heading; one that every second document has names nothing."""
    bare = _NUMBERING.sub("", text, count=1) if _NUMBERING.match(text) else text
    if reference := ADR.match(bare):
        bare = bare[reference.end() :]
    words = _WORD.findall(fold(bare))
    phrase = " ".join(words)
    if not words or len(words) > _MAX_HEADING_WORDS or phrase in _GENERIC_HEADINGS:
        return None
    if not any(character.isalpha() for character in phrase):
        return None
    return Entity(f"heading:{phrase}", text, "heading")


def is_adr_path(path: str) -> bool:
    """Tell whether a file is a record in a folder of architecture decisions."""
    *folders, name = path.lower().split("/")
    return not _ADR_FOLDERS.isdisjoint(folders) and not _NO_RECORD.fullmatch(
        PurePosixPath(name).stem
    )


def adr_of_path(path: str) -> Entity | None:
    """Return the decision that a file name like `docs/adr/0007-ledger.md` numbers."""
    number = _ADR_FILE.match(posixpath.basename(path)) if is_adr_path(path) else None
    return adr_entity(number[1]) if number else None


def resolve_link(source: str, target: str) -> str | None:
    """Return the project path that a link in the document `source` leads to, if it is inside."""
    if not target or _OUTSIDE.match(target):
        return None
    path = unquote(re.split(r"[#?]", target, maxsplit=1)[0])
    if path.startswith("/"):
        path = path.lstrip("/")
    else:
        path = posixpath.join(posixpath.dirname(source), path)
    path = posixpath.normpath(path)
    return None if path.startswith("..") or path in (".", "/") or "\0" in path else path


def linked_entity(source: str, target: str) -> Entity | None:
    """Return what a link leads to: a numbered decision by its number, else the file."""
    path = resolve_link(source, target)
    if path is None:
        return None
    return adr_of_path(path) or path_entity(path)
