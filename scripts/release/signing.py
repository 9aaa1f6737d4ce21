"""Ed25519 keys and signatures in the forms that a bundle carries."""

import base64
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from release.source import Refused

RAW, PEM = serialization.Encoding.Raw, serialization.Encoding.PEM


def new_key() -> Ed25519PrivateKey:
    """Make a key."""
    return Ed25519PrivateKey.generate()


def private_text(key: Ed25519PrivateKey) -> bytes:
    """Return the key as unencrypted PKCS8."""
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(PEM, form, serialization.NoEncryption())


def public_text(key: Ed25519PrivateKey) -> bytes:
    """Return release-key.pub: base64 of the 32 raw bytes of the public half."""
    raw = key.public_key().public_bytes(RAW, serialization.PublicFormat.Raw)
    return base64.b64encode(raw) + b"\n"


def read_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key that scripts/make_release_key.py wrote; raise Refused."""
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise Refused(f"{path}: {error}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise Refused(f"{path}: not an Ed25519 key. scripts/make_release_key.py makes one.")
    return key


def signature_text(key: Ed25519PrivateKey, data: bytes) -> bytes:
    """Return release.json.sig for these bytes."""
    return base64.b64encode(key.sign(data)) + b"\n"
