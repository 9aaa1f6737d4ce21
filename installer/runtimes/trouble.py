"""What stops an update: an expected failure, told in three sentences."""

from __future__ import annotations


class UpdateFailed(Exception):
    """An update that did not happen: what was wrong, what serves now, and what to do next."""

    def __init__(
        self,
        what: str,
        next_step: str = "",
        *,
        kept: str = "Nothing was changed: the version that was active is active still.",
    ) -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step
        self.kept = kept


class UpdateRefused(UpdateFailed):
    """A release that is not taken, to protect the one that is there."""
