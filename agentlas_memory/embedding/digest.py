"""SHA-256 without hashlib, whose import costs the hook 3 ms (it loads OpenSSL)."""

try:
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:  # Python before 3.12
    from _sha256 import sha256  # type: ignore[import-not-found]

__all__ = ["sha256"]
