"""What goes wrong in a command: said in one place, with what was kept and what to do next.

An expected failure is a UserError; an interrupt is one too; anything else is a bug, and leaves its
traceback in `~/.agentlas/state/cli.log`.
"""

from __future__ import annotations

import os
from pathlib import Path

import click

from agentlas_memory.commands.output import print_json, say

FAILED, WRONG_USE, REFUSED = 1, 2, 3  # REFUSED: to protect data
INTERRUPTED = 130  # as a shell has it for Ctrl-C


class UserError(Exception):
    """An expected failure, in three sentences and with an exit code."""

    def __init__(
        self,
        what: str,
        *,
        kept: str = "Nothing was changed.",
        next_step: str = "",
        code: int = FAILED,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.kept = kept
        self.next_step = next_step
        self.code = code


def interrupted(kept: str, next_step: str = "") -> UserError:
    """Return what a Ctrl-C is told as."""
    return UserError("Interrupted.", kept=kept, next_step=next_step, code=INTERRUPTED)


def says_yes(question: str) -> bool:
    """Ask a person; False where there is nobody to ask. Ctrl-C is no answer, and ends all."""
    try:
        return click.confirm(question, err=True)
    except click.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise
        return False


def command_line(words: str, project: str) -> str:
    """Return a command to be pasted into a shell."""
    import shlex  # here and below: what only an error needs would cost every command 3 ms

    return f"agentlas-memory {words} --project {shlex.quote(project)}"


def tell(error: BaseException, *, as_json: bool) -> int:
    """Tell the user about an error and return the exit code."""
    failure = as_user_error(error) or _bug(error)
    say(f"Error: {failure.what}")
    for sentence in (failure.kept, failure.next_step and f"Next: {failure.next_step}"):
        if sentence:
            say(sentence)
    if as_json:
        print_json({"error": failure.what, "kept": failure.kept, "next": failure.next_step})
    return failure.code


def as_user_error(error: BaseException) -> UserError | None:
    """Return an expected failure of any room as one for the user; None for a bug."""
    if isinstance(error, UserError):
        return error
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "agentlas-memory"
        return UserError(error.format_message(), next_step=f"{command} --help", code=WRONG_USE)
    if isinstance(error, click.ClickException):
        return UserError(error.format_message())
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return interrupted("What was finished before is kept.")
    if isinstance(error, Exception):
        from agentlas_memory.commands.store_errors import explain_failure

        return explain_failure(error)
    return None


def _bug(error: BaseException) -> UserError:
    import traceback

    details = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        next_step = f"the details are in {_log(details)}; please report them"
    except OSError as reason:
        say(details)
        next_step = f"please report the lines above (no log could be written: {reason})"
    return UserError(
        f"This is a bug in agentlas-memory: {type(error).__name__}: {error}",
        kept="What was finished before is kept.",
        next_step=next_step,
    )


def _log(details: str) -> Path:
    """Append a traceback to the bounded log and return the log's path."""
    import time

    from agentlas_memory.failure_log import LARGEST
    from agentlas_memory.home import data_home
    from agentlas_memory.lean import make_private_folder
    from agentlas_memory.redact import redact

    home = data_home()
    if not home:
        raise OSError("no home directory is known")
    make_private_folder(f"{home}/state")
    path = Path(home, "state", "cli.log")
    if path.exists() and path.stat().st_size > LARGEST:
        path.replace(f"{path}.1")
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    # A pipe put there must not hold the command.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(path, flags, 0o600), "a", encoding="utf-8", errors="replace") as file:
        file.write(f"{stamp}\n{redact(details)}\n")
    return path
