"""What git would leave out: `.gitignore` files at every level and `.git/info/exclude`.

pathspec translates a pattern; which pattern decides is worked out here as git does it: the
last fitting one of the deepest file that has one. (pathspec's own verdict also counts patterns
that fit only a folder above, which fails on lists like `*`, `!*/`, `!*.md`; since an ignored
folder is never entered, only patterns that fit the entry itself may count.)
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path

from pathspec import GitIgnoreSpec

# In pathspec's expressions this group is the slash behind the name that the pattern fits.
_FOLDER_MARK = "ps_d"
_EVERYTHING_INSIDE = re.compile(r"/\*\*(/?)$")

Rule = tuple[re.Pattern[str], bool]


class IgnoreRules:
    """The rules that hold in one folder: those of its own file, then those of the folders above.

    Paths are relative to the top of the repository; a folder's path ends with `/`.
    """

    def __init__(
        self, rules: list[Rule] | None = None, base: str = "", outer: IgnoreRules | None = None
    ) -> None:
        self._rules = rules or []
        self._base = base
        self._outer = outer

    def with_file(self, file: Path, base: str) -> IgnoreRules:
        """Return these rules below those of an ignore file that lies in the folder `base`."""
        rules = list(_read_rules(file))
        return IgnoreRules(rules, base, self) if rules else self

    def ignores(self, path: str) -> bool:
        """Tell whether git leaves out this file or folder, given that the folders above are in."""
        level: IgnoreRules | None = self
        while level is not None:
            inner = path[len(level._base) :]
            for expression, ignored in reversed(level._rules):
                if expression.search(inner) and _fits_itself(expression, inner):
                    return ignored
            level = level._outer
        return False


def _fits_itself(expression: re.Pattern[str], path: str) -> bool:
    return any(
        match.groupdict().get(_FOLDER_MARK) is None or match.end(_FOLDER_MARK) == len(path)
        for match in expression.finditer(path)
    )


def _read_rules(file: Path) -> Iterator[Rule]:
    try:
        # Neither git nor we follow a linked ignore file; opening a pipe would wait forever.
        if not stat.S_ISREG(file.lstat().st_mode):
            return
        text = file.read_bytes().decode("utf-8-sig", "surrogateescape")
    except OSError:
        return
    for line in text.replace("\r\n", "\n").split("\n"):
        # `a/**` fits what is inside of `a`, but pathspec's expression fits `a` as well.
        line = _EVERYTHING_INSIDE.sub(r"/**/*\1", line)
        try:
            patterns = GitIgnoreSpec.from_lines([line]).patterns
        except ValueError:
            # Git passes over a line that it cannot read.
            continue
        for pattern in patterns:
            if pattern.regex is not None and pattern.include is not None:
                yield pattern.regex, pattern.include


def rules_for(project: Path) -> tuple[IgnoreRules, str]:
    """Return the rules from above the project, and its path from the repository's top.

    A project that an outer repository leaves out as a whole (a home under version control,
    say) is none of that repository's business: its rules do not hold here.
    """
    top = next((folder for folder in (project, *project.parents) if _has_git(folder)), None)
    if top is None:
        return IgnoreRules(), ""
    rules = IgnoreRules().with_file(_git_folder(top) / "info" / "exclude", "")
    base = ""
    for name in project.relative_to(top).parts:
        rules = rules.with_file(top / base / ".gitignore", base)
        base += f"{name}/"
        if rules.ignores(base):
            return IgnoreRules(), ""
    return rules, base


class IgnoredFiles:
    """The files of a project that git leaves out, asked for one by one."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        rules, self._base = rules_for(self._root)
        self._known: dict[str, IgnoreRules | None] = {
            "": rules.with_file(self._root / ".gitignore", self._base)
        }

    def __contains__(self, path: object) -> bool:
        name = str(path)
        rules = self._rules_in(name.rpartition("/")[0])
        return rules is None or rules.ignores(self._base + name)

    def _rules_in(self, folder: str) -> IgnoreRules | None:
        """Return the rules that hold in a folder, None where it is left out as a whole."""
        if folder not in self._known:
            above = self._rules_in(folder.rpartition("/")[0])
            path = f"{self._base}{folder}/"
            left_out = above is None or above.ignores(path)
            file = self._root / folder / ".gitignore"
            self._known[folder] = None if left_out or above is None else above.with_file(file, path)
        return self._known[folder]


def _has_git(folder: Path) -> bool:
    try:
        return (folder / ".git").exists()
    except OSError:
        return False


def _git_folder(top: Path) -> Path:
    """Return the repository's common folder, also from a linked worktree or a submodule."""
    git = top / ".git"
    try:
        if git.is_file():
            git = top / git.read_text("utf-8").removeprefix("gitdir:").strip()
        if (common := git / "commondir").is_file():
            git = git / common.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        pass
    return git
