"""What each session has been given, so that hosts which keep it are not given it twice.

State: `~/.agentlas/state/delivery/<host>-<session>/`, one empty file per delivered digest.
"""

from time import time

from agentlas_memory.deadline import DeadlineReached
from agentlas_memory.lean import make_private_folder, sha256, system

_QUIET_SECONDS = 5  # hosts fire several compact events for one compaction
_FORGOTTEN_AFTER = 30 * 86_400  # seconds
_LEFT_OVER = 60  # seconds: no hook takes so long
_RESET = "reset"


class Delivery:
    """The deliveries of one session of one host."""

    __slots__ = ("_folder",)

    def __init__(self, home: str, host: str, session: str) -> None:
        name = sha256(session.encode("utf-8", "replace")).hexdigest()[:16]
        self._folder = f"{home}/state/delivery/{host}-{name}" if home and session else ""

    def first_time(self, digest: str) -> bool:
        """Record a digest; False when this session has it already, or another process just won.

        Where nothing can be recorded the answer is yes: a repeat is better than a loss.
        """
        if not self._folder:
            return True
        try:
            make_private_folder(self._folder)
            system.close(self._create(digest))
        except FileExistsError:
            return False
        except (OSError, DeadlineReached):
            return True
        return True

    def forget(self) -> bool:
        """Forget what was delivered; False when that was done moments ago for the same event."""
        if not self._folder:
            return True
        try:
            make_private_folder(self._folder)
            if not self._begin_reset():
                return False
            for name in system.listdir(self._folder):
                if name != _RESET:
                    system.unlink(f"{self._folder}/{name}")
        except OSError:
            pass
        return True

    def _begin_reset(self) -> bool:
        path = f"{self._folder}/{_RESET}"
        try:
            if time() - system.stat(path).st_mtime < _QUIET_SECONDS:
                return False
            system.unlink(path)
        except FileNotFoundError:
            pass
        try:
            system.close(self._create(_RESET))
        except FileExistsError:
            return False
        return True

    def _create(self, name: str) -> int:
        flags = system.O_WRONLY | system.O_CREAT | system.O_EXCL
        return system.open(f"{self._folder}/{name}", flags, 0o600)


def forget_old_sessions(home: str) -> None:
    """Remove what was recorded for sessions untouched for a month; called by `index`."""
    for session in _entries(f"{home}/state/delivery"):
        try:
            if time() - system.stat(session).st_mtime > _FORGOTTEN_AFTER:
                for name in system.listdir(session):
                    system.unlink(f"{session}/{name}")
                system.rmdir(session)
        except OSError:
            continue  # another process is just doing the same


def remove_leftovers(home: str) -> None:
    """Remove receipts that killed hooks left half written; called by `index`."""
    for file in _entries(f"{home}/state/last"):
        try:
            if not file.endswith(".json") and time() - system.stat(file).st_mtime > _LEFT_OVER:
                system.unlink(file)
        except OSError:
            continue


def _entries(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in system.listdir(folder)]
    except OSError:
        return []
