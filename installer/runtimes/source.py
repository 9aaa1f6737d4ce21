"""Where a release comes from: a folder, an archive; read alike, and never trusted."""

from __future__ import annotations

import hashlib
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Protocol

from agentlas_memory.installer.runtimes.release import KEY, RELEASE, SIGNATURE, File
from agentlas_memory.installer.runtimes.trouble import UpdateFailed, UpdateRefused

LARGEST_TEXT = 4 << 20  # bytes of release.json; it names some fifty files
_PIECE = 1 << 20
# What tarfile and gzip raise for what anybody may have written.
_BROKEN = (tarfile.TarError, zlib.error, EOFError, ValueError, ArithmeticError, RecursionError)


class Source(Protocol):
    """A bundle: its three texts, and all its files."""

    def text(self, name: str) -> bytes | None:
        """Return one of the texts, None where the bundle has none."""

    def files(self) -> Iterator[tuple[str, IO[bytes]]]:
        """Yield each file by its path in the bundle; read it before the next is asked for."""


class FolderSource:
    """A bundle that is unpacked already."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def text(self, name: str) -> bytes | None:
        """Return one of the texts."""
        path = self._folder / name
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return bounded(file, name)

    def files(self) -> Iterator[tuple[str, IO[bytes]]]:
        """Yield the regular files; a link leads out of what was signed."""
        for path in sorted(self._folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                with path.open("rb") as file:
                    yield path.relative_to(self._folder).as_posix(), file


class ArchiveSource:
    """A bundle as it is published: a .tar.gz with one folder in it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._texts = self._read_texts()

    def text(self, name: str) -> bytes | None:
        """Return one of the texts."""
        return self._texts.get(name)

    def files(self) -> Iterator[tuple[str, IO[bytes]]]:
        """Yield the regular files; links, devices and what lies elsewhere are passed over."""
        try:
            with tarfile.open(self._path, "r:gz") as archive:
                for member in archive:
                    folder, _, path = member.name.partition("/")
                    file = archive.extractfile(member) if member.isreg() else None
                    if file is not None and path and folder not in (".", ".."):
                        yield path, file
        except _BROKEN as error:
            raise _unreadable(self._path, error) from error
        except OSError as error:
            if error.errno is None:  # gzip's own: no such compression, a wrong checksum
                raise _unreadable(self._path, error) from error
            raise

    def _read_texts(self) -> dict[str, bytes]:
        wanted = (RELEASE, SIGNATURE, KEY)
        return {path: bounded(file, path) for path, file in self.files() if path in wanted}


def _unreadable(path: Path, error: Exception) -> UpdateRefused:
    return UpdateRefused(f"{path} is no whole archive: {error}.", "fetch it again")


def bounded(file: IO[bytes], name: str) -> bytes:
    """Return what a small file holds; raise UpdateRefused for a large one."""
    data = file.read(LARGEST_TEXT + 1)
    if len(data) > LARGEST_TEXT:
        raise UpdateRefused(f"{name} is larger than {LARGEST_TEXT >> 20} MiB.")
    return data


def open_bundle(path: Path) -> Source:
    """Return the bundle in a folder or an archive."""
    if path.is_dir():
        return FolderSource(path)
    if not path.is_file():
        raise UpdateFailed(f"There is no bundle at {path}.", "name a bundle, or its folder")
    return ArchiveSource(path)


def take_files(source: Source, wanted: Mapping[str, File], into: Path | None) -> None:
    """Check every file that the release names, and write it below `into`; nothing else is read.

    What is installed later are the bytes that were checked here, whatever becomes of the source.
    """
    missing = set(wanted)
    for path, file in source.files():
        if path in missing:
            missing.discard(path)
            _take(file, path, wanted[path], into)
    if missing:
        raise UpdateRefused(f"The bundle lacks {', '.join(sorted(missing)[:5])}.", _AGAIN)


_AGAIN = "fetch the bundle again, from where you had it or from elsewhere"


def _take(file: IO[bytes], path: str, expected: File, into: Path | None) -> None:
    digest, size = hashlib.sha256(), 0
    with _written(path, into) as copy:
        while size <= expected.size and (piece := file.read(_PIECE)):
            digest.update(piece)
            size += len(piece)
            if copy is not None:
                copy.write(piece)
    if size != expected.size or digest.hexdigest() != expected.sha256:
        raise UpdateRefused(f"{path} is not the file that the release names.", _AGAIN)


@contextmanager
def _written(path: str, into: Path | None) -> Iterator[IO[bytes] | None]:
    if into is None:
        with nullcontext() as nothing:
            yield nothing
        return
    target = into / path
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with target.open("xb") as copy:
        yield copy
