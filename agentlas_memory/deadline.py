"""How long one prompt may wait for us, and the clock that sees to it."""

from _thread import allocate_lock, start_new_thread
from time import monotonic, sleep

from agentlas_memory.lean import TYPE_CHECKING, WINDOWS, system

if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Callable

_PATIENCE = 0.05  # seconds

_turn = allocate_lock()  # whoever has it answers


class DeadlineReached(Exception):
    """A stage did not finish in time; it is used whole or not at all."""


class Deadline:
    """Milliseconds that one hook run may take, and those each stage took."""

    __slots__ = ("_end", "_mark", "stages")

    def __init__(self, milliseconds: float) -> None:
        self._mark = monotonic()
        self._end = self._mark + milliseconds / 1000
        self.stages: dict[str, float] = {}

    def passed(self) -> bool:
        """Tell whether the time is up."""
        return monotonic() >= self._end

    def check(self) -> None:
        """Raise DeadlineReached when the time is up."""
        if self.passed():
            raise DeadlineReached

    def left(self) -> float:
        """Return the milliseconds that remain, negative when there are none."""
        return (self._end - monotonic()) * 1000

    def stage(self, name: str) -> None:
        """Note under `name` the milliseconds since the last stage."""
        now = monotonic()
        self.stages[name] = round((now - self._mark) * 1000, 2)
        self._mark = now


def arm(milliseconds: float) -> None:
    """Have DeadlineReached raised when the time is up, even in a blocked read."""
    global _turn
    _turn = allocate_lock()
    if not WINDOWS:
        import _signal  # type: ignore[import-not-found]

        _signal.signal(_signal.SIGALRM, _ring)
        _signal.setitimer(_signal.ITIMER_REAL, milliseconds / 1000)


def disarm() -> None:
    """Let nothing interrupt the answer."""
    if not WINDOWS:
        import _signal

        _signal.setitimer(_signal.ITIMER_REAL, 0)


def send(output: bytes) -> None:
    """Write the answer; a host that reads nothing until the deadline is told nothing."""
    if not _turn.acquire(blocking=False):
        return  # the guard is just ending the process
    try:
        while output:
            output = output[system.write(1, output) :]
            disarm()  # what was begun is finished
    except OSError:
        pass  # the host has gone


def guard(deadline: Deadline, empty: bytes, report: "Callable[[BaseException], None]") -> None:
    """Have the process ended soon after the deadline within a call that does not come back.

    The host is then told `empty`. SQLite opens and reads again whenever a signal interrupts it, so
    the clock rings in vain where a file system hangs or somebody puts a FIFO in a file's place
    between two looks. Costs 0.1 ms.
    """
    seconds = deadline.left() / 1000 + _PATIENCE
    try:  # noqa: SIM105 - contextlib costs a millisecond
        start_new_thread(_give_up, (_turn, seconds, empty, report))
    except RuntimeError:  # the system has no thread to spare
        pass


def _give_up(
    turn: "LockType", seconds: float, empty: bytes, report: "Callable[[BaseException], None]"
) -> None:
    if not WINDOWS:
        import _signal

        _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGALRM,))  # rings for the main thread
    sleep(seconds)
    if turn.acquire(blocking=False):
        start_new_thread(report, (DeadlineReached(),))  # it may hang as well
        sleep(_PATIENCE)
        system.write(1, empty)
        system._exit(0)


def _ring(_signal_number: int, _frame: object) -> None:
    raise DeadlineReached
