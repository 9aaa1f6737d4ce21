"""Two ways to rename that Python does not offer: onto nothing only, and one for the other.

Linux and macOS have both in their C library. Where that, or the file system, has them not, the
nearest that there is serves.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path

_HERE = -100  # AT_FDCWD: paths as they are
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


class Way(Enum):
    """What becomes of a file that stands under the new name."""

    NEW = "there must be none"
    SWAP = "it gets the old name"


# As <linux/fs.h> and macOS's <sys/stdio.h> number them.
_FLAGS = {Way.NEW: 1, Way.SWAP: 2} if sys.platform == "linux" else {Way.NEW: 4, Way.SWAP: 2}


def rename(source: Path, target: Path, way: Way) -> bool:
    """Rename in one step; False where it could only be done as `os.replace` does it.

    Raises FileExistsError for `Way.NEW` where there is a file, and OSError.
    """
    native = _native()
    if native is not None:
        if native(os.fsencode(source), os.fsencode(target), _FLAGS[way]) == 0:
            return True
        number = ctypes.get_errno()
        if number not in _UNKNOWN:
            raise OSError(number, os.strerror(number), str(target))
    if way is Way.NEW and os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    source.replace(target)
    return False


def _native() -> Callable[[bytes, bytes, int], int] | None:
    if sys.platform not in ("linux", "darwin"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        return lambda old, new, flags: int(library.renameat2(_HERE, old, _HERE, new, flags))
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return lambda old, new, flags: int(library.renamex_np(old, new, flags))
    return None
