"""The packaged model, or nothing when it does not verify."""

from agentlas_memory.embedding.asset import Asset, AssetRejected, asset_dir, open_asset

STAMP_FILE = "state/model.stamp"  # in the user's data folder


def open_model(home: str) -> Asset | None:
    """Return the opened model; None when it is rejected, which recall reports as degraded."""
    try:
        return open_asset(asset_dir(), f"{home}/{STAMP_FILE}" if home else None)
    except AssetRejected:
        return None
