"""Ed25519: is a release's signature by the key that this machine has pinned?

As a program, `python -m agentlas_memory.installer.runtimes.signature RELEASE SIGNATURE KEY`: the
install script's Python need not have `cryptography`, the new version's has.
"""

from __future__ import annotations

import base64
import binascii
import sys

from agentlas_memory.installer.runtimes.trouble import UpdateFailed
from agentlas_memory.lean import read_file

_LARGEST = 4 << 20  # bytes; as much of a release is read


def read_key(text: bytes, where: str) -> bytes:
    """Return the 32 bytes of a public key; raise UpdateFailed for anything else."""
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        key = b""
    if len(key) != 32:
        raise UpdateFailed(f"{where} holds no Ed25519 public key.", f"see to {where}")
    return key


def holds(release: bytes, signature: bytes, key: bytes) -> bool:
    """Tell whether a signature (base64) over the release's bytes is the key's."""
    try:
        # Only the updater needs it, and it is a large library.
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise UpdateFailed(
            "Signatures cannot be checked: the package `cryptography` cannot be loaded.",
            "install this version again with its install.sh",
        ) from error
    try:
        raw = base64.b64decode(signature.strip(), validate=True)
        Ed25519PublicKey.from_public_bytes(key).verify(raw, release)
    except (binascii.Error, InvalidSignature, ValueError):
        return False
    return True


def main(words: list[str]) -> int:
    """Return 0 where the signature holds, 1 where not."""
    release, signature, key = (read_file(word, _LARGEST) for word in words)
    return 0 if holds(release, signature, read_key(key, words[2])) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
