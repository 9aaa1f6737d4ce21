"""A tar.gz that holds nothing of the machine that made it: no owner, umask, order or time."""

import gzip
import tarfile
from pathlib import Path


def write_archive(folder: Path, target: Path, time: int) -> None:
    """Pack the folder, under its own name."""
    with (
        target.open("wb") as file,
        # Level 1: nearly all of it is compressed already.
        gzip.GzipFile("", "wb", 1, file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path in (folder, *sorted(folder.rglob("*"))):
            _add(archive, path, path.relative_to(folder.parent).as_posix(), time)


def set_modes(folder: Path) -> None:
    """Give the files the modes that they have in the archive."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(_mode(path))


def _add(archive: tarfile.TarFile, path: Path, name: str, time: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.mtime, entry.mode = time, _mode(path)
    if path.is_dir():
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
        return
    entry.size = path.stat().st_size
    with path.open("rb") as data:
        archive.addfile(entry, data)


def _mode(path: Path) -> int:
    return 0o755 if path.is_dir() or path.suffix == ".sh" else 0o644
