"""The packaged model, or nothing when it does not verify."""

from agentlas_memory.embedding.asset import (
    EMBEDDINGS,
    Asset,
    AssetRejected,
    asset_dir,
    open_asset,
)
from agentlas_memory.lean import identity


def open_model(home: str) -> Asset | None:
    """Return the opened model; None when it is rejected, which recall reports as degraded."""
    try:
        return open_asset(asset_dir(), stamp_file(home) if home else None)
    except AssetRejected:
        return None


def stamp_file(home: str) -> str:
    """Return where the user's data hold the stamp of this installation's model.

    Several installations share a home, and each has a stamp of its own. It is named by the file
    and not by its path: hosts run the hook through `runtime/current`, people by other links.
    """
    device, inode = identity(f"{asset_dir()}/{EMBEDDINGS}") or (0, 0)
    return f"{home}/state/model-{device:x}-{inode:x}.stamp"
