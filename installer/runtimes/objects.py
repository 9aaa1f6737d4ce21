"""The small files between the versions, which a fault of one must not hold or end a command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentlas_memory.private_json import BrokenFile, read_private_json


def read_object(path: Path) -> tuple[dict[str, Any], str]:
    """Return the object in a file, and what is wrong with it; a missing file is an empty one."""
    try:
        return read_private_json(path), ""
    except BrokenFile as error:
        return {}, f"{error}."
    except OSError as error:
        return {}, f"{path} cannot be read: {error.strerror or error}."
    except ValueError:  # a name that no file can have, out of a damaged history
        return {}, f"{str(path)!r} is no path."
