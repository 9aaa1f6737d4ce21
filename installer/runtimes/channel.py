"""A channel: the folder or address that holds the newest release, and its bundle."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from agentlas_memory.installer.runtimes.pace import Pace, keep_pace
from agentlas_memory.installer.runtimes.release import NAME, Release
from agentlas_memory.installer.runtimes.source import (
    ArchiveSource,
    Source,
    bounded,
    open_bundle,
)
from agentlas_memory.installer.runtimes.trouble import UpdateFailed, UpdateRefused

_SECONDS = 30.0  # without a byte
_WHOLE = 60.0  # seconds for a channel's texts, and before a bundle's pace counts
_SLOWEST = 10 << 10  # bytes a second, on average; the lock of updates is held meanwhile
_PIECE = 16 << 10  # small: a pace is only known where pieces end
_ANOTHER = 'name another in ~/.agentlas/settings.json: "update.channel"'
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SPARE = 16 << 20  # bytes by which an archive may be larger than the files in it


class Offer(Protocol):
    """Where a release can be had: its two texts now, its bundle later."""

    def text(self, name: str) -> bytes | None:
        """Return `release.json` or another text, None where there is none."""

    def fetch(self, release: Release, folder: Path) -> Source:
        """Return the bundle; what has to be fetched is put into a folder of ours."""


class BundleOffer:
    """A bundle that is here: nothing is fetched."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def text(self, name: str) -> bytes | None:
        """Return one of its texts."""
        return self._source.text(name)

    def fetch(self, release: Release, folder: Path) -> Source:
        """Return the bundle itself."""
        return self._source


class Channel:
    """A folder or an address with `release.json`, its signature, and the bundle beside them."""

    def __init__(self, location: str) -> None:
        self._location = location.rstrip("/")
        self._end: float | None = None  # of the time for the texts

    def text(self, name: str) -> bytes | None:
        """Return one of the texts, None where there is none."""
        place = f"{self._location}/{name}"
        if self._end is None:
            self._end = time.monotonic() + _WHOLE
        left = self._end - time.monotonic()

        def read(pace: Pace) -> bytes:
            with _opened(place) as file:
                return bounded(file, name)

        try:
            if not is_address(place):
                return read(Pace())
            told = f"{place} did not come within {_WHOLE:.0f} seconds."
            return keep_pace(read, lambda seconds, size: seconds > left, told)
        except FileNotFoundError:
            return None

    def fetch(self, release: Release, folder: Path) -> Source:
        """Fetch the bundle; the release in it must be the very one that was offered."""
        name = f"{NAME}-{release.version}.tar.gz"
        most = sum(file.size for file in release.files.values()) + _SPARE
        archive, place = folder / name, f"{self._location}/{name}"

        def copy(pace: Pace) -> None:
            _copy(place, archive, most, pace)

        try:
            if is_address(place):
                told = f"{place} comes with less than {_SLOWEST >> 10} KiB a second."
                keep_pace(copy, _is_too_slow, told)
            else:
                copy(Pace())
        except FileNotFoundError as error:
            raise UpdateFailed(f"The channel {self._location} lacks {name}.") from error
        return ArchiveSource(archive)


def _copy(place: str, archive: Path, most: int, pace: Pace) -> None:
    with _opened(place) as file, archive.open("xb") as copy:
        while piece := file.read(_PIECE):
            pace.note(len(piece))
            if pace.bytes >= most:
                raise UpdateRefused(f"{archive.name} is larger than what the release names.")
            copy.write(piece)


def _is_too_slow(seconds: float, size: int) -> bool:
    return size < (seconds - _WHOLE) * _SLOWEST


def open_offer(location: str) -> Offer:
    """Return what a channel, a bundle's folder or an archive offers."""
    if is_address(location):
        return Channel(location)
    try:
        path = Path(location).expanduser()
    except RuntimeError as error:  # ~somebody who is not here
        raise UpdateRefused(f"{location[:200]} is no folder: {error}", _ANOTHER) from error
    is_bundle = not path.is_dir() or (path / "wheels").is_dir()
    return BundleOffer(open_bundle(path)) if is_bundle else Channel(str(path.absolute()))


def is_address(location: str) -> bool:
    """Tell whether a location has to be asked over a network."""
    return "://" in location


def check_location(location: str) -> None:
    """Raise UpdateRefused for an address that anybody on the way could answer for."""
    if not is_address(location):
        return
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(location)
    except ValueError as error:
        raise _no_address(location, error) from error
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return
    raise UpdateRefused(
        f"{location[:200]} is not asked: a channel is a folder or an https:// address.",
        _ANOTHER,
    )


def _no_address(location: str, error: Exception) -> UpdateRefused:
    return UpdateRefused(f"{location[:200]} is not asked: it is no address ({error}).", _ANOTHER)


@contextmanager
def _opened(location: str) -> Iterator[IO[bytes]]:
    if not is_address(location):
        with open(location, "rb", opener=_open_regular) as file:
            yield file
        return
    with _asked(location) as file:
        yield file


def _open_regular(path: str, flags: int) -> int:
    """Open without waiting: a FIFO in a file's place would hold an update, and its lock, for ever.

    The folder of a channel is another's, who may put anything there.
    """
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UpdateRefused(f"{path} is not a regular file.", _ANOTHER)
    return handle


@contextmanager
def _asked(address: str) -> Iterator[IO[bytes]]:
    """Ask an address; every redirection must be as safe as the address itself."""
    # Imported here alone: nothing else of ours can open a connection.
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class Checked(HTTPRedirectHandler):
        def redirect_request(self, *words: object) -> Request | None:
            check_location(str(words[-1]))
            return super().redirect_request(*words)  # type: ignore[arg-type]

    check_location(address)
    try:
        with build_opener(Checked).open(address, timeout=_SECONDS) as answer:
            yield answer
    except HTTPError as error:
        if error.code in (404, 410):
            raise FileNotFoundError(2, "not found", address) from error
        raise UpdateFailed(f"{address} answers {error.code} {error.reason}.") from error
    except ValueError as error:  # a host or a path that cannot be sent, a redirection to none
        raise _no_address(address, error) from error
    except (OSError, HTTPException) as error:
        if isinstance(error, FileNotFoundError):
            raise
        reason = getattr(error, "reason", None) or error
        raise UpdateFailed(
            f"{address} cannot be had: {reason}.", "try again, or `update --from` a bundle"
        ) from error
