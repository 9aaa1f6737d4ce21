"""The packaged model as the hook sees it: four files, their digests, a stamp that saves hashing.

Hashing the 8 MB costs about 30 ms. So the installer hashes once and records each file's size,
modification time and inode outside the package; the hook compares those and hashes only when they
differ.
"""

from mmap import ACCESS_READ, mmap

from agentlas_memory.chartable import CharTable
from agentlas_memory.embedding.vocabulary import Vocabulary
from agentlas_memory.lean import read_file, sha256, system

MODEL_NAME = "model2vec_potion_base_8m_int8"
DIMENSIONS = 256
EMBEDDINGS, SCALES = "embeddings.i8", "scales.f32le"
VOCABULARY, CHARACTERS = "wordpiece.vocab", "wordpiece.chars"

# The digests are what is trusted, so they live in the code and not beside the files they vouch for.
DIGESTS = {
    EMBEDDINGS: "02727ea774d77f964eed1ce84bbf0bc216228e49d1627ab44e1f00db1f58c41e",
    SCALES: "9a42e12a15278a8fcf9b41745fb7747b929725e01b5f401f5517713b7369666f",
    VOCABULARY: "809b123e0202514bc2f4b707fd1fb8291518f8a5b17f171ad7cfaf226b97f8df",
    CHARACTERS: "9c8cfec2fc374692685ec176acdaf3e6fa50ec01a9e54a4079a24b5ceba03b29",
}


class AssetRejected(Exception):
    """The model's files are missing, unreadable or not the ones this version was built for."""


class Asset:
    """The opened model: two mapped tables, the vocabulary and the character table."""

    __slots__ = ("characters", "embeddings", "scales", "vocabulary")

    def __init__(self, folder: str) -> None:
        self.embeddings = _map(f"{folder}/{EMBEDDINGS}")
        self.scales = _map(f"{folder}/{SCALES}")
        self.vocabulary = open_vocabulary(folder)
        self.characters = CharTable(f"{folder}/{CHARACTERS}")


def asset_dir() -> str:
    """Return the folder of the packaged model."""
    package = __file__.rsplit("/", 2)[0]
    return f"{package}/models/model2vec/potion-base-8M-int8"


def open_vocabulary(folder: str) -> Vocabulary:
    """Open the vocabulary alone, unverified."""
    return Vocabulary(_map(f"{folder}/{VOCABULARY}"))


def open_asset(folder: str, stamp_file: str | None) -> Asset:
    """Open the model, hashing its files unless the stamp knows them; raise AssetRejected."""
    try:
        if stamp_file is None or _read_stamp(stamp_file) != stamp_text(folder):
            _check_digests(folder)
        return Asset(folder)
    except (OSError, ValueError) as error:
        raise AssetRejected(str(error)) from error


def stamp_text(folder: str) -> str:
    """Return what identifies the files on this disk: one line each, with the digest expected."""
    lines = []
    for name, digest in DIGESTS.items():
        seen = system.stat(f"{folder}/{name}")
        lines.append(f"{name} {digest} {seen.st_size} {seen.st_mtime_ns} {seen.st_ino}\n")
    return "".join(lines)


def _read_stamp(path: str) -> str | None:
    try:
        return read_file(path, 4096).decode("utf-8", "replace")
    except OSError:
        return None


def _check_digests(folder: str) -> None:
    for name, expected in DIGESTS.items():
        if sha256(_map(f"{folder}/{name}")).hexdigest() != expected:
            raise AssetRejected(f"{folder}/{name}: not the file this version was built for")


def _map(path: str) -> mmap:
    handle = system.open(path, system.O_RDONLY)
    try:
        size = system.fstat(handle).st_size
        if not size:
            raise AssetRejected(f"{path}: empty")
        return mmap(handle, size, access=ACCESS_READ)
    except OSError as error:  # a folder, say
        raise AssetRejected(f"{path}: {error}") from error
    finally:
        system.close(handle)
