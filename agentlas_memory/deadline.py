"""How long one prompt may wait for us."""

from time import monotonic


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
