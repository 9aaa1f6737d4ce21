"""Which stores this machine's user has said yes to.

A clone can carry a store, and its text would reach a model with tools. So a store counts only if
`trusted.json` in the user's own folder holds the project's path and the store's random id.
"""

from agentlas_memory.home import read_json_object
from agentlas_memory.lean import WINDOWS, identity, system

TRUSTED_FILE = "trusted.json"


class Trust:
    """What the user said of one project."""

    __slots__ = ("card", "on", "shared", "store_id")

    def __init__(self, store_id: str, on: bool, shared: bool, card: str = "") -> None:
        self.store_id = store_id
        self.card = card  # SHA-256 of the routing card, blank for none
        self.on = on
        self.shared = shared  # said of a store that others own or may write


def read_trust(home: str, store_root: str) -> Trust | None:
    """Return what `trusted.json` says of the project at `store_root`, or None.

    Paths are compared by device and inode, so that no spelling or case of a path matters; the one
    spelt alike comes first, so that nobody waits for another project's network folder.
    """
    if not home:
        return None
    here = identity(store_root)
    if here is None:
        return None
    entries = read_json_object(f"{home}/{TRUSTED_FILE}").get("projects")
    if not isinstance(entries, list):
        return None
    known = [entry for entry in entries if isinstance(entry, dict)]
    for entry in sorted(known, key=lambda entry: entry.get("path") != store_root):
        path, store_id = entry.get("path"), entry.get("store_id")
        if isinstance(path, str) and isinstance(store_id, str) and here == identity(path):
            on, shared, card = (entry.get(key) for key in ("on", "shared", "card"))
            return Trust(
                store_id, on is not False, shared is True, card if isinstance(card, str) else ""
            )
    return None


def owned_by_us_alone(database: str) -> bool:
    """Tell whether the store is this user's own and nobody else may write it."""
    if WINDOWS:
        return True
    info = system.stat(database)
    return info.st_uid == system.getuid() and not info.st_mode & 0o002
