"""What the hook uses instead of standard modules that would cost it milliseconds.

A hook is a fresh process, so each import is paid at every prompt. Measured beside a bare
`python3 -I -S -c pass` (8 ms, CPython 3.11): `os` +0.2, `json` +1.1, `hashlib` +0.4, `array` +0.4
and `sqlite3` +0.8 of that. Only the hook's own modules import this one; everything else is ordinary
Python.
"""

import sys

# `os` without its path module and abstract base classes.
if sys.platform == "win32":
    import nt

    system = nt
else:
    import posix

    system = posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    import hashlib
    from collections.abc import Callable
    from mmap import mmap
    from os import stat_result
    from types import ModuleType

WINDOWS = sys.platform == "win32"


class _ScannerSettings:
    """The decoder attributes that the C scanner behind `json` reads."""

    strict = False  # a raw control character in a string is no reason to forget a prompt
    object_hook = object_pairs_hook = None
    # int() refuses more than 4,300 digits, and a long number is no reason either.
    parse_int = parse_float = parse_constant = float


def parse_json(text: str, *, whole: bool = False) -> object:
    """Return the first JSON value in `text`; raise ValueError where there is none.

    If it is to be the `whole` of the text, also where anything else follows.
    """
    start = len(text) - len(text.lstrip(" \t\r\n\ufeff"))
    value, end = _scan_json(text, start)
    if whole and text[end:].strip(" \t\r\n"):
        raise ValueError("more than one JSON value")
    return value


def _scan_json(text: str, start: int) -> "tuple[object, int]":
    """Return the JSON value at `start`, and where it ends.

    `_json` is present in CPython 3.10 to 3.14; elsewhere the ordinary module serves.
    """
    try:
        from _json import make_scanner
    except ImportError:
        from json import JSONDecoder

        return JSONDecoder(strict=False).raw_decode(text, start)
    try:
        return make_scanner(_ScannerSettings)(text, start)  # type: ignore[arg-type]
    except (StopIteration, RecursionError, SystemError) as error:
        # SystemError: before 3.12 the scanner looks for json.decoder's exception among the loaded
        # modules and, not finding it, fails without one.
        raise ValueError("no JSON value") from error


def quote_json(text: str) -> str:
    """Return `text` as a JSON string of ASCII characters, quotes included."""
    try:
        from _json import encode_basestring_ascii as quote
    except ImportError:
        from json.encoder import py_encode_basestring_ascii as quote
    return quote(text)


def sha256(data: "bytes | mmap") -> "hashlib._Hash":
    """Return a SHA-256 object of `data`, without hashlib, which loads OpenSSL (3 ms)."""
    # By version: a search for a module that is not there costs 0.1 ms, at every call.
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256 as new
        else:
            from _sha256 import sha256 as new  # type: ignore[import-not-found, unused-ignore]
    except ImportError:  # an interpreter built without it
        from hashlib import sha256 as new
    return new(data)  # type: ignore[no-any-return, unused-ignore]


def load_sqlite() -> "ModuleType":
    """Return the C core of sqlite3.

    It needs `lru_cache` alone from functools, but importing functools brings collections with it
    (2.9 ms of 4.4). A stand-in holds its place during the import and is taken away again.
    """
    if "functools" not in sys.modules:
        sys.modules["functools"] = _functools_stand_in()  # type: ignore[assignment]
        try:
            import _sqlite3
        finally:
            del sys.modules["functools"]
    import _sqlite3

    return _sqlite3


def _functools_stand_in() -> object:
    from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]

    def lru_cache(maxsize: int = 128, typed: bool = False) -> "Callable[[object], object]":
        return lambda function: _lru_cache_wrapper(function, maxsize, typed, tuple)

    stand_in = type(sys)("functools")
    stand_in.lru_cache = lru_cache  # type: ignore[attr-defined]
    return stand_in


def getenv(name: str) -> str:
    """Return an environment variable, blank when it is unset."""
    if WINDOWS:
        return system.environ.get(name, "")  # type: ignore[call-overload, no-any-return]
    value: bytes = system.environ.get(name.encode(), b"")
    return value.decode("utf-8", "surrogateescape").strip()


def identity(path: str) -> tuple[int, int] | None:
    """Return device and inode of what a path leads to: the same for every spelling of it."""
    try:
        info = system.stat(path)
    except (OSError, ValueError):  # a NUL in the path is a ValueError
        return None
    return info.st_dev, info.st_ino


def last_change(info: "stat_result") -> int:
    """Return when a file last changed, in nanoseconds; a time that was set back does not count."""
    changed = info.st_mtime_ns if WINDOWS else max(info.st_mtime_ns, info.st_ctime_ns)
    return min(changed, (1 << 63) - 1)  # SQLite's largest number; a broken clock goes beyond


def read_file(
    path: str, limit: int = 1 << 20, *, follow: bool = True, folder: int | None = None
) -> bytes:
    """Return at most `limit` bytes of a regular file; raise OSError for anything else.

    Opened without blocking, so that a FIFO put in a file's place cannot hold the prompt; without
    `follow` a symbolic link is no file. `folder` is a descriptor that a relative path starts from.
    """
    flags = system.O_RDONLY | getattr(system, "O_NONBLOCK", 0) | getattr(system, "O_BINARY", 0)
    flags |= 0 if follow else getattr(system, "O_NOFOLLOW", 0)
    handle = system.open(path, flags | getattr(system, "O_CLOEXEC", 0), dir_fd=folder)
    try:
        if system.fstat(handle).st_mode & 0o170000 != 0o100000:
            raise OSError(f"not a regular file: {path}")
        parts = []
        while limit > 0 and (part := system.read(handle, min(limit, 1 << 20))):
            parts.append(part)
            limit -= len(part)
        return b"".join(parts)
    finally:
        system.close(handle)


def write_private(path: str, data: bytes) -> None:
    """Put `data` in place of `path` in one step, readable by its owner alone."""
    aside = f"{path}.{system.getpid()}"
    flags = system.O_WRONLY | system.O_CREAT | system.O_TRUNC | getattr(system, "O_BINARY", 0)
    handle = system.open(aside, flags | getattr(system, "O_NOFOLLOW", 0), 0o600)
    try:
        try:
            if system.write(handle, data) != len(data):  # half of it would look like all of it
                raise OSError(f"{path} could not be written whole")
        finally:
            system.close(handle)
        system.replace(aside, path)
    except BaseException:
        system.unlink(aside)
        raise


def make_private_folder(path: str) -> None:
    """Make a folder and its parents for the owner alone; one that exists is left as it is."""
    try:
        system.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        parent = path.rpartition("/")[0]
        if not parent:
            raise
        make_private_folder(parent)
        try:  # once: a parent that is a link to nothing is there, and holds nothing
            system.mkdir(path, 0o700)
        except FileExistsError:
            return
