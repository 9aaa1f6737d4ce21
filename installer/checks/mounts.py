"""Which file system a path lies on; read from the mount table, as `statfs` can lie."""

from __future__ import annotations

import os
import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")

# Those whose locks or whose idea of a file reach over a wire, or out of a virtual machine.
_NETWORK = {
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "drvfs", "fuse", "gfs2", "glusterfs", "lustre",
    "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs",
    "vmhgfs",
}  # fmt: skip


def network_file_system(path: Path, mounts: Path | None = None) -> str:
    """Return the name of the network file system that a path lies on, blank for a local one."""
    name = _file_system(os.path.realpath(path), mounts or MOUNTS)
    # A file system of a program's (fuse.sshfs) may be anything; a disk's driver is `fuseblk`.
    return name if name in _NETWORK or name.startswith("fuse.") else ""


def _file_system(path: str, mounts: Path) -> str:
    """Return the type of the innermost mount; of two on one folder the later hides the other."""
    found, longest = "", -1
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:  # no such table here
        return ""
    for line in lines:
        before, separator, after = line.partition(" - ")
        if not separator:
            continue
        folder = _unescape(before.split()[4])
        inside = path == folder or path.startswith(folder.rstrip("/") + "/")
        if inside and len(folder) >= longest:
            found, longest = after.split()[0], len(folder)
    return found


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
