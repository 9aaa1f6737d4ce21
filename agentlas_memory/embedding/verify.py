"""Full verification of the packaged model, and the stamp that lets the hook skip it."""

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from agentlas_memory.embedding.asset import (
    DIGESTS,
    MODEL_NAME,
    AssetRejected,
    asset_dir,
    stamp_text,
)
from agentlas_memory.embedding.model import stamp_file
from agentlas_memory.lean import make_private_folder

FORMAT = "agentlas-model2vec-int8-v1"
MANIFEST = "manifest.json"
TOKENIZER = "tokenizer.json"
LICENSE = "LICENSE.model.txt"
TOKENIZER_DIGEST = "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50"
_STAMPS = 8
_PINNED = {**DIGESTS, TOKENIZER: TOKENIZER_DIGEST}


@dataclass(frozen=True)
class AssetReport:
    """What a full verification found; `reason` is empty when `status` is `verified`."""

    name: str
    status: str
    content_sha256: str
    path: str
    reason: str


def verify_asset(folder: str | Path) -> AssetReport:
    """Hash every file against the manifest, and the ones we rely on against this version's digests.

    `content_sha256` is the manifest's digest: it names every other file's.
    """
    folder = Path(folder)
    content, status, reason = "", "verified", ""
    try:
        manifest = (folder / MANIFEST).read_bytes()
        content = hashlib.sha256(manifest).hexdigest()
        _check_files(folder, _manifest_digests(manifest))
    except (OSError, AssetRejected) as error:
        status, reason = "rejected", str(error)
    return AssetReport(MODEL_NAME, status, content, str(folder), reason)


def write_stamp(folder: str | Path, stamp_path: str | Path) -> None:
    """Verify the model fully, then record its files for the hook; raise AssetRejected."""
    try:
        # Taken first: a file that changes while we hash no longer matches its stamp.
        stamp = stamp_text(str(folder))
    except OSError as error:
        raise AssetRejected(str(error)) from error
    report = verify_asset(folder)
    if report.reason:
        raise AssetRejected(report.reason)
    target = Path(stamp_path)
    descriptor, aside = tempfile.mkstemp(dir=target.parent, prefix=target.name)  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(stamp)
        Path(aside).replace(target)
    except BaseException:
        Path(aside).unlink()
        raise


def refresh_stamp(home: str) -> None:
    """Stamp the packaged model for the hook, if it is not stamped as it lies here.

    Without a home, or when the model is rejected, there is no stamp: the hook finds out by itself.
    """
    folder = asset_dir()
    try:
        stamp = Path(stamp_file(home))
        if not home or (stamp.exists() and stamp.read_text() == stamp_text(folder)):
            return
        make_private_folder(str(stamp.parent))
        write_stamp(folder, stamp)
        _forget_old_stamps(stamp.parent)
    except (OSError, AssetRejected):
        return


def _forget_old_stamps(folder: Path) -> None:
    """Remove the stamps of installations that are long gone: each new one leaves its own."""
    stamps = sorted(folder.glob("model-*.stamp"), key=lambda path: path.stat().st_mtime)
    for stamp in stamps[:-_STAMPS]:
        stamp.unlink()


def _manifest_digests(manifest: bytes) -> dict[str, tuple[int, str]]:
    """Return size and digest of each file in the manifest."""
    try:
        content = json.loads(manifest)
        if content["format"] != FORMAT:
            raise AssetRejected(f"{MANIFEST}: format {content['format']}, expected {FORMAT}")
        return {name: (file["size"], file["sha256"]) for name, file in content["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise AssetRejected(f"{MANIFEST}: not a manifest of ours") from error


def _check_files(folder: Path, expected: dict[str, tuple[int, str]]) -> None:
    for name in (*_PINNED, LICENSE):
        if name not in expected:
            raise AssetRejected(f"{MANIFEST}: does not name {name}")
        data = (folder / name).read_bytes()
        size, digest = expected[name]
        if len(data) != size:
            raise AssetRejected(f"{folder / name}: {len(data)} bytes, expected {size}")
        if hashlib.sha256(data).hexdigest() != digest:
            raise AssetRejected(f"{folder / name}: not the file in the manifest")
        if _PINNED.get(name, digest) != digest:
            raise AssetRejected(f"{folder / name}: not the file this version was built for")
