"""release.json, what is signed, and SHA256SUMS, what sha256sum can check."""

import hashlib
import json
import re
import sysconfig
import zipfile
from datetime import datetime, timezone
from email.parser import BytesParser
from pathlib import Path

from release.source import Refused, Source

RELEASE, SIGNATURE, KEY, SUMS = "release.json", "release.json.sig", "release-key.pub", "SHA256SUMS"
PACKAGE = "agentlas_memory"
MODEL = f"{PACKAGE}/models/model2vec/"


def wheel_metadata(wheel: Path) -> tuple[str, str]:
    """Return version and required Python of our wheel; raise Refused for a version like 1.0rc1."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = BytesParser().parsebytes(archive.read(name))
    if not re.fullmatch(r"\d+\.\d+\.\d+", metadata["Version"], re.ASCII):
        raise Refused(f"A release's version is X.Y.Z in digits, not {metadata['Version']}.")
    return metadata["Version"], metadata["Requires-Python"]


def release_json(bundle: Path, wheel: Path, source: Source, pythons: list[str]) -> bytes:
    """Return release.json for the bundle as it lies in its folder."""
    version, requires_python = wheel_metadata(wheel)
    release = {
        "format": 1,
        "name": "agentlas-memory",
        "version": version,
        "commit": source.commit,
        "time": datetime.fromtimestamp(source.time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "requires_python": requires_python,
        "pythons": pythons,
        "platform": sysconfig.get_platform(),
        "wheel": wheel.name,
        "files": _files(bundle),
        **_contents(wheel),
    }
    return (json.dumps(release, indent=1, sort_keys=True) + "\n").encode()


def sums(bundle: Path) -> bytes:
    """Return SHA256SUMS for the bundle, release.json included."""
    digests = {name: file["sha256"] for name, file in _files(bundle).items()}
    digests[RELEASE] = _digest((bundle / RELEASE).read_bytes())
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode()


def _files(bundle: Path) -> dict[str, dict[str, str | int]]:
    """Return size and digest of each file, less those that speak about the others."""
    found = {}
    for path in sorted(path for path in bundle.rglob("*") if path.is_file()):
        name, data = path.relative_to(bundle).as_posix(), path.read_bytes()
        if name not in (RELEASE, SIGNATURE, KEY, SUMS):
            found[name] = {"sha256": _digest(data), "size": len(data)}
    return found


def _contents(wheel: Path) -> dict[str, dict[str, str]]:
    """Return the digests of the model's files and of what hosts are given, as in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        digests = {name: _digest(archive.read(name)) for name in archive.namelist()}
    model = {name.rpartition("/")[2]: digests[name] for name in digests if name.startswith(MODEL)}
    payloads = {
        name.removeprefix(f"{PACKAGE}/"): digest
        for name, digest in digests.items()
        if name.startswith(f"{PACKAGE}/host_adapters/") and "/payload/" in name
    }
    return {"model": model, "payloads": payloads}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
