"""What `doctor` checks, one module a kind."""

from __future__ import annotations

from typing import Literal, NamedTuple

Status = Literal["ok", "warning", "failed"]


class Check(NamedTuple):
    """One thing that was looked at; `fix` is what to do where it is not ok."""

    id: str
    host: str
    status: Status
    detail: str
    fix: str = ""
