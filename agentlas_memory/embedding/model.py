"""The packaged model, or nothing when it does not verify."""

from agentlas_memory.embedding.asset import Asset, AssetRejected, asset_dir, open_asset
from agentlas_memory.lean import sha256


def open_model(home: str) -> Asset | None:
    """Return the opened model; None when it is rejected, which recall reports as degraded."""
    try:
        return open_asset(asset_dir(), stamp_file(home) if home else None)
    except AssetRejected:
        return None


def stamp_file(home: str) -> str:
    """Return where the user's data hold the stamp of this installation's model.

    Several installations share a home, and each has a stamp of its own.
    """
    return f"{home}/state/model-{sha256(asset_dir().encode()).hexdigest()[:12]}.stamp"
