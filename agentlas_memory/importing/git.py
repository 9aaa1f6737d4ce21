"""A repository's history: the commits and tags that say why, a note for each year.

git runs as in every repository that somebody else may have made: it starts no program that the
configuration names, and asks no other machine for what a partial clone lacks.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer

from agentlas_memory.cut import LARGEST_TEXT, clean
from agentlas_memory.home import CHILD_VARIABLE
from agentlas_memory.importing.commits import Commit, is_noise, plain_body, telling
from agentlas_memory.importing.items import (
    LONGEST_TITLE,
    Gathered,
    Item,
    Left,
    SourceError,
    joined,
    one_line,
    plain,
)
from agentlas_memory.importing.secrets import Redactor
from agentlas_memory.redact import redact
from agentlas_memory.review.findings import Passage, instruction_in

_COMMITS = 20_000
_TAGS = 2_000
_SECONDS = 120.0
_MOST_BYTES = 128 << 20
_NOTE_BYTES = 1 << 20  # half of what is read of a file
_LONGEST_MESSAGE = 16_000  # characters
_MARK = 8
_MOST_SAID = 1 << 16  # bytes of what git says of a failure
_LONGEST_SAID = 1000  # characters
_OF_SETTINGS = re.compile(
    r"bad (?:config\b|\w+ config value|config line|config variable)|unable to parse '[\w.-]+' from"
    r"|(?:in|of) (?:the )?(?:config|file) .{0,300}config\b|invalid value for '[\w.-]+'"
    r"|could not expand include path|exceeded maximum include depth"
)
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY")
_SAFE = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "log.showSignature=false",
    "-c",
    "protocol.allow=never",
    "-c",
    "core.hooksPath=/dev/null",
)


class BrokenSettings(SourceError):
    """git's configuration, the repository's or the user's, says something that git refuses."""


def gather_git(
    project: Path, since: str = "", *, subjects: bool = False, flagged: bool = False
) -> Gathered:
    """Read the history of the branch that is checked out.

    `subjects`: also commits of one sentence; `flagged`: also what is held back else.
    """
    if shutil.which("git") is None:
        raise SourceError("git is not installed, or not in PATH")
    _refuse_no_repository(project)
    gathered = Gathered("git", str(project), partial=bool(since))
    if _ask(project, ["rev-parse", "--is-shallow-repository"]).strip() == b"true":
        gathered.remarks.append("This clone is shallow: what came before is not in it.")
    commits = _commits(project, since)
    if len(commits) == _COMMITS:
        gathered.remarks.append(f"Only the newest {_COMMITS} commits were looked at.")
    kept, noise = telling(commits, subjects=subjects)
    more = "" if subjects else " (--subjects takes those of one sentence)"
    gathered.remarks.append(f"{len(kept)} of {len(commits)} commits say why, {noise} do not{more}.")
    tags = [] if since else _tags(project)
    told = [*kept, *tags]
    if not flagged:
        told = [commit for commit in told if not _hold(gathered, commit)]
    gathered.items += _notes(told, gathered.redactor)
    return gathered


def _hold(gathered: Gathered, commit: Commit) -> bool:
    """Keep back a commit that looks like an instruction to a model; the rest of its year stays."""
    passage = Passage("", redact(commit.subject), 0, 0, redact(commit.body))
    found = instruction_in(passage)
    if found:
        gathered.held.append(Left(commit.mark[:_MARK], f"{found.detail}: {found.excerpt}"))
    return found is not None


def _refuse_no_repository(project: Path) -> None:
    """Raise with git's own words, which name the remedy for a repository of somebody else's."""
    try:
        _ask(project, ["rev-parse", "--git-dir"])
    except BrokenSettings:
        raise
    except SourceError as error:
        raise SourceError(f"git reads no repository in {project}: {error}") from error


def _commits(project: Path, since: str) -> list[Commit]:
    # Not `log`: that ends at any wrong value of how a person likes to see a history.
    command = ["rev-list", f"-{_COMMITS}", "--no-merges", "--encoding=UTF-8"]
    command += ["--format=tformat:%H%n%ct%n%an <%ae>%n%s%n%b%x00"]
    command += [f"--since={since}"] if since else []
    command += ["HEAD"]
    if not os.path.lexists(project / ".git"):
        command += ["--", "."]  # a folder of a larger repository: what touched it
    try:
        _ask(project, ["rev-parse", "--verify", "--quiet", "HEAD"])
    except BrokenSettings:
        raise
    except SourceError:
        return []  # nothing was committed yet
    return list(filter(None, map(_commit, _texts(_ask(project, command)))))


def _commit(record: str) -> Commit | None:
    record = re.sub(r"^commit [^\n]*\n", "", record.lstrip("\n"), count=1)  # git's own heading
    fields = record.split("\n", 4)
    if len(fields) < 4 or not fields[1].isdecimal():
        return None
    mark, seconds, author, subject = fields[:4]
    body = fields[4] if len(fields) > 4 else ""
    if len(body) > LARGEST_TEXT:
        body = ""  # cut in two, a key in it could not be seen
    return Commit(mark, int(seconds), author, joined(subject), body)


def _tags(project: Path) -> list[Commit]:
    """Return the tags that say more than their own name."""
    form = "%(refname:strip=2)%0a%(creatordate:unix)%0a%(objecttype)%0a%(contents:subject)%0a"
    form += "%(contents:body)%00"
    command = ["for-each-ref", f"--count={_TAGS}", "--sort=-creatordate", f"--format={form}"]
    found = []
    for record in _texts(_ask(project, [*command, "refs/tags"])):
        fields = record.lstrip("\n").split("\n", 4)
        if len(fields) < 5 or fields[2] != "tag" or not fields[1].isdecimal():
            continue
        body = plain_body(re.sub(r"-----BEGIN [^-]+-----.*", "", fields[4], flags=re.DOTALL))
        text = f"{fields[3]}\n\n{body}".strip("\n")
        if not is_noise(fields[0] and "tag", text, ""):
            name = joined(fields[0])
            found.append(Commit(name, int(fields[1]), "", name, text))
    return found


def _texts(output: bytes) -> list[str]:
    return [plain(one.decode("utf-8", "replace")) for one in output.split(b"\0") if one.strip()]


def _notes(commits: Sequence[Commit], redactor: Redactor) -> list[Item]:
    """Return a note for each year, several where one would be too long; oldest first in each.

    So a new commit changes the last one alone.
    """
    years: dict[str, list[str]] = {}
    for commit in sorted(commits, key=lambda one: (one.seconds, one.mark)):
        day = _day(commit.seconds)
        if day:
            years.setdefault(day[:4], []).append(_section(commit, day, redactor))
    return [
        _note(year, number, part)
        for year, sections in years.items()
        for number, part in enumerate(_parts(sections), start=1)
    ]


def _day(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).date().isoformat()
    except (ValueError, OverflowError, OSError):  # a commit may claim any date
        return ""


def _section(commit: Commit, day: str, redactor: Redactor) -> str:
    place = f"commits of {day[:4]}"
    subject = redactor.clean(commit.subject.strip("# "), place)
    is_hash = re.fullmatch(r"[0-9a-f]{40,64}", commit.mark)
    mark = commit.mark[:_MARK] if is_hash else one_line(commit.mark)
    heading = clean(subject, LONGEST_TITLE) or mark
    body = clean(redactor.clean(commit.body, place), _LONGEST_MESSAGE)
    return f"## {heading}\n\n{body}\n\n({mark}, {day})"


def _parts(sections: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    size = 0
    for section in sections:
        length = len(section.encode()) + 2
        if parts[-1] and size + length > _NOTE_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(section)
        size += length
    return parts


def _note(year: str, number: int, sections: Sequence[str]) -> Item:
    name = year if number == 1 else f"{year}-{number}"
    return Item(
        key=name,
        place=f"commits of {name}",
        text="\n\n".join(sections),
        title=name,
        identity=f"git-{name}",
    )


def _ask(project: Path, command: Sequence[str]) -> bytes:
    """Return what git prints; SourceError where it fails, is too slow or has no end."""
    kept = {name: value for name, value in os.environ.items() if name not in _PLACES}
    safe = {
        CHILD_VARIABLE: "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",  # whatever the configuration allows
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
    }
    with TemporaryFile() as errors:  # a pipe that nobody reads would hold git up
        process = subprocess.Popen(
            ["git", *_SAFE, "-C", str(project), *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**kept, **safe},
        )
        timer = Timer(_SECONDS, process.kill)
        timer.start()
        try:
            assert process.stdout is not None
            output = process.stdout.read(_MOST_BYTES + 1)
            if len(output) > _MOST_BYTES:
                process.kill()
            process.wait()
        finally:
            timer.cancel()
            process.kill()
            process.communicate()
        if len(output) > _MOST_BYTES:
            raise SourceError(f"its history is larger than {_MOST_BYTES >> 20} MiB: use --since")
        if process.returncode:
            errors.seek(0)
            raise _failure(errors.read(_MOST_SAID), process.returncode)
        return output


def _failure(output: bytes, code: int) -> SourceError:
    """Return git's own words, and that its settings are at fault where they are."""
    said = one_line(output.decode("utf-8", "replace"), _LONGEST_SAID)
    if _OF_SETTINGS.search(said):
        return BrokenSettings(f"git's settings here are broken, mend them first: {said}")
    return SourceError(said or f"git ended with {code}")
