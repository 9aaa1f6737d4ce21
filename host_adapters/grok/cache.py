"""What Grok's model reads: one file a workspace, and an index of workspace paths.

In `~/.agentlas/runtime-memory-context/grok/`. An entry is named by a digest of the path that Grok
sends as `cwd` and shows to the model as its Workspace Path. Its first line is that path; below it
stands the current prompt's capsule, or nothing. The index is made from the entries' first lines.
"""

from time import time

from agentlas_memory.lean import (
    make_private_folder,
    parse_json,
    quote_json,
    read_file,
    sha256,
    system,
    write_private,
)

_FOLDER = "/runtime-memory-context/grok"
_INDEX = "index.json"
_ENTRY = ".md"
_TITLE = "Workspace Path: "
_LONGEST_PATH = 4096
_LONGEST_TITLE = 32 << 10  # bytes: a path of which every character is escaped
_MOST_ENTRIES = 100  # an index of 20 KB; the least recently used give way
_FORGOTTEN_AFTER = 30 * 86_400  # seconds without a prompt
_TIDIED_EVERY = 86_400
_LEFT_OVER = 60  # seconds: no hook takes so long
_ROUNDS = 64  # others may come between as often; the hook has a deadline of its own


def empty_entry(home: str, workspace: str) -> None:
    """Take away what a workspace's entry holds, and once a day what nobody uses."""
    folder = home + _FOLDER
    path = f"{folder}/{_entry_name(workspace)}"
    if _last_change(path):
        try:
            write_private(path, _title(workspace))
        except BaseException:  # no room on the disk, or no time: it goes all the same
            system.unlink(path)
            raise
    if time() - _last_change(f"{folder}/{_INDEX}") > _TIDIED_EVERY:
        refresh_index(folder)


def write_entry(home: str, workspace: str, capsule: str) -> None:
    """Put a capsule into a workspace's entry, and the entry into the index."""
    if len(workspace) > _LONGEST_PATH:
        return
    folder, name = home + _FOLDER, _entry_name(workspace)
    make_private_folder(folder)
    write_private(f"{folder}/{name}", _title(workspace) + f"\n{capsule}\n".encode())
    if _index_line(workspace, f"{folder}/{name}") not in _read(f"{folder}/{_INDEX}"):
        refresh_index(folder)


def refresh_index(folder: str) -> None:
    """Write the index of all entries anew; those that nobody uses are removed.

    Without a lock no entry is lost: an entry is there before its writer lists the folder, and who
    wrote the index last looks again afterwards.
    """
    make_private_folder(folder)
    names = _tidy(folder)
    for _ in range(_ROUNDS):
        write_private(f"{folder}/{_INDEX}", _index(folder, names))
        before, names = names, _tidy(folder)
        if names == before:
            return


def _tidy(folder: str) -> list[str]:
    """Return the names of the entries in use; remove the others, and what killed hooks left."""
    now, used = time(), []
    for name in system.listdir(folder):
        changed = _last_change(f"{folder}/{name}")
        if not changed:
            continue  # it has just gone, and its writer may be making it again
        if name.endswith(_ENTRY) and now - changed < _FORGOTTEN_AFTER:
            used.append((changed, name))
        elif name != _INDEX and now - changed > _LEFT_OVER:
            _remove(f"{folder}/{name}")
    used.sort(reverse=True)
    for _, name in used[_MOST_ENTRIES:]:
        _remove(f"{folder}/{name}")
    return sorted(name for _, name in used[:_MOST_ENTRIES])


def _index(folder: str, names: list[str]) -> bytes:
    lines = []
    for name in names:
        workspace = _workspace_of(_read(f"{folder}/{name}", _LONGEST_TITLE))
        if _entry_name(workspace) == name:
            lines.append(_index_line(workspace, f"{folder}/{name}"))
    return b"{\n" + b",\n".join(sorted(lines)) + b"\n}\n"


def _index_line(workspace: str, path: str) -> bytes:
    return f"{_quote(workspace)}: {_quote(path)}".encode()


def _title(workspace: str) -> bytes:
    return f"{_TITLE}{_quote(workspace)}\n".encode()


def _workspace_of(entry: bytes) -> str:
    title = entry.partition(b"\n")[0].decode("utf-8", "replace")
    try:
        workspace = parse_json(title.removeprefix(_TITLE))
    except ValueError:
        return ""
    return workspace if isinstance(workspace, str) else ""


def _entry_name(workspace: str) -> str:
    digest = sha256(workspace.encode("utf-8", "surrogatepass")).hexdigest()
    return digest[:20] + _ENTRY


def _quote(path: str) -> str:
    """Return a path as a JSON string that stays one line and opens neither tag nor code."""
    return '"' + "".join(map(_quote_character, path)) + '"'


def _quote_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable() and character not in "<>`":
        return character
    if character in "<>`":
        return f"\\u{ord(character):04x}"
    return quote_json(character)[1:-1]


def _last_change(path: str) -> float:
    """Return when a file was written, 0 where there is none."""
    try:
        return float(system.stat(path).st_mtime)
    except (OSError, ValueError):
        return 0.0


def _read(path: str, limit: int = 1 << 20) -> bytes:
    try:
        return read_file(path, limit, follow=False)
    except OSError:
        return b""


def _remove(path: str) -> None:
    try:  # noqa: SIM105 - contextlib costs a millisecond
        system.unlink(path)
    except OSError:
        pass  # another process is just doing the same
