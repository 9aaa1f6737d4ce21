"""Which commits say something that is worth recalling, and what they say.

A history is mostly noise: merges, versions, formatting, robots. Recalled, it would answer "fix the
tests" with the hundred commits of that name.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LEAST_WORDS = 8  # of a body; fewer repeat the subject
LEAST_OF_SUBJECT = 9  # words of one that stands alone and still says something

_ROBOT = re.compile(
    r"\[bot\]|\b(?:dependabot|renovate|greenkeeper|github-actions|pre-commit-ci|pyup|snyk"
    r"|weblate|transifex|crowdin|semantic-release|allcontributors|imgbot|mergify|bors)\b"
    r"|\bbot@|\bnoreply-bot\b",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"(?:wip|tmp|temp|x+|merge|bump|initial commit|first commit|auto-?format)\b"
    r"|(?:fixup|squash|amend)!|\.+$"
    r"|(?:release|prepare|cut|tag|publish|upgrade|update)\b.{0,40}\b(?:version|release|v?\d+\.\d)"
    r"|(?:version|release|v)[ :-]{0,2}v?\d+(?:\.\d+)+"
    r"|(?:update|upgrade) dependenc|(?:build|chore|ci)\(deps|chore\(release"
    r"|translated using|(?:updat|fix|correct|edit)(?:e|ed|es|ing)? (?:the )?"
    r"(?:translations?|change ?logs?|readme|lock ?files?|copyright|authors?|news)\b"
    r"|(?:translations?|change ?logs?|readme|lock ?files?|copyright|authors?|news)"
    r"(?: updates?| files?| notices?)*$"
    r"|(?:(?:fix|correct)(?:ed|es)? (?:a |some )?)?typos?\b(?!-)"
    r"|(?:(?:fix|correct)(?:ed|es)? )?(?:lint\w*|whitespace|(?:code )?style|(?:re)?format\w*)"
    r"(?: (?:errors?|issues?|fix\w*|code|files|with \w+))?$",
    re.IGNORECASE,
)
_AREA = re.compile(
    r"(?:\[[^\[\]]{1,40}\]:? ?|(?:[\w./+-]{1,30}|\w{1,20}\([^()]{1,30}\)!?): +)"
)  # `docs: `
_TAKEN_BACK = re.compile(r"""Revert:? ["“](.+)["”]\.?""")
_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,64})")
_TRAILER = re.compile(
    r"[A-Z][A-Za-z]*(?:-[A-Za-z]+)+: .+|(?:Fix(?:es|ed)|Close[sd]|Resolve[sd]|Refs?|See|Bug|Link"
    r"|Issue|Cc|CC)(?:: .+|:? (?:#\d+|https?://\S+)[\s,.#\d]*)"
    r"|\(cherry picked from commit [0-9a-f]+\)|git-svn-id: .+|This reverts commit [0-9a-f]+\.?"
)
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_RULE = re.compile(r"\s*(?:=+|-+|\*{3,}|_{3,})\s*")


class Commit(NamedTuple):
    """One commit, or a tag that has a message; `mark` is what git calls it, cut short."""

    mark: str
    seconds: int
    author: str
    subject: str
    body: str


def telling(commits: list[Commit], *, subjects: bool = False) -> tuple[list[Commit], int]:
    """Return what is worth keeping of a history that is told newest first, and how many are not.

    `subjects`: also commits without a body, if their subject is a sentence.

    What was reverted does not hold any more. The same message on another branch is told once.
    """
    undone: set[str] = set()
    said: set[str] = set()
    kept = []
    for commit in commits:
        if any(commit.mark.startswith(one[: len(commit.mark)]) for one in undone):
            continue  # and what it reverted itself stands again
        undone.update(_REVERTS.findall(commit.body))
        body = plain_body(commit.body)
        commit = commit._replace(subject=plain_subject(commit.subject))
        words = " ".join(f"{commit.subject} {body}".lower().split())
        if subjects and not body and len(commit.subject.split()) >= LEAST_OF_SUBJECT:
            body = commit.subject
        if not is_noise(commit.subject, body, commit.author) and words not in said:
            kept.append(commit._replace(body=body))
            said.add(words)
    return kept, len(commits) - len(kept)


def is_noise(subject: str, body: str, author: str) -> bool:
    """Tell a commit that nobody will ask about: a robot's, or one without a word on its reason."""
    subject = subject.strip()
    if _ROBOT.search(author) or _NOISE.match(subject) or _NOISE.match(_AREA.sub("", subject, 1)):
        return True
    return len(body.split()) < LEAST_WORDS


def plain_subject(subject: str) -> str:
    """Return a subject, of one that takes another commit back in words nobody orders with.

    "Revert the last commit" is said every day, and asks for none of them.
    """
    back = False
    while found := _TAKEN_BACK.fullmatch(subject):
        subject, back = found[1], not back
    return f"{subject} (taken back)" if back else subject


def plain_body(body: str) -> str:
    """Return a message's body without trailers, as Markdown that opens nothing it does not close.

    A heading, a fence or a comment in it would swallow the commits after it.
    """
    lines = [line for line in body.strip("\n").split("\n") if not _REVERTS.match(line)]
    while lines and (not lines[-1].strip() or _TRAILER.fullmatch(lines[-1].strip())):
        del lines[-1]
    unclosed = sum(bool(_FENCE.match(line)) for line in lines) % 2 == 1
    return "\n".join(_inert(line, unclosed) for line in lines).strip("\n")


def _inert(line: str, unclosed: bool) -> str:
    line = line.rstrip()
    bare = line.lstrip()
    if _RULE.fullmatch(line) or (unclosed and _FENCE.match(line)):
        return ""
    if bare.startswith("#") and bare.lstrip("#").startswith((" ", "\t")):
        return bare.lstrip("# \t")
    return f"\\{bare}" if bare.startswith("<") else line
