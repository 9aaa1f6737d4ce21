"""`status`: is memory on here, how old is it, and why was the last prompt silent."""

from __future__ import annotations

import hashlib
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click

from agentlas_memory.commands.advice import broken_project_files, memory_line
from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import counted, print_json, show
from agentlas_memory.commands.projects import find
from agentlas_memory.commands.settings_check import settings_lines
from agentlas_memory.commands.silence import in_words
from agentlas_memory.commands.standing import agent_of, is_trusted, retrieval_of, store_state
from agentlas_memory.deadline import Deadline
from agentlas_memory.home import data_home
from agentlas_memory.lean import read_file
from agentlas_memory.ontology.documents import INBOX, MAX_FILE_BYTES, UnreadableDocument
from agentlas_memory.ontology.schema import EXPERIENCE
from agentlas_memory.ontology.store import Store, StoreUnusable, open_store
from agentlas_memory.private_json import BrokenFile
from agentlas_memory.project import Project

_PATIENCE_MS = 5_000.0
_LOOKING_SECONDS = 2.0  # for changed files; what was counted by then is reported


@click.command()
@common_options
def status(named: str | None, as_json: bool) -> None:
    """Report on the project's memory; whatever is wrong with it is reported, not an error.

    Each assistant is named with its delivery: `context`, into the conversation, where it stays;
    `call`, for one model call or one turn; `pointer`, into a file that the model is told to read.
    """
    project = find(named)
    document = describe(project)
    if as_json:
        print_json(document)
    else:
        reason = document["last_silence"]
        silence = f"{reason}: {in_words(reason, project)}" if reason else "-"
        memory = memory_line(project, document["store"]["state"])
        show("\n".join(_lines(document, memory, silence)))
        for line in settings_lines():
            show(f"settings:      {line}")
        for name, why in broken_project_files(project) if project else ():
            show(f"{name + ':':<14} {why}")


def describe(project: Project | None) -> dict[str, Any]:
    """Return the status of a project, or of the lack of one."""
    state, reason = store_state(project.database) if project else ("missing", "no project here")
    document: dict[str, Any] = {
        "project": project and project.root,
        "trusted": project is not None and is_trusted(project),
        "store": {"path": project and project.database, "state": state, "reason": reason},
        "sources": None,
        "chunks": None,
        "indexed_at": None,
        "changed_since": None,
        "retrieval": None,
        "last_silence": None,
        "last_failure": _last_failure(),
        "agent": _describe_agent(project) if project else None,
        "hosts": _installed_hosts(),
        "runtime": _runtime(),
    }
    if project is not None:
        try:
            store = open_store(project.database, Deadline(_PATIENCE_MS))
        except StoreUnusable:
            return document
        try:
            document.update(_describe_store(project, store))
        finally:
            store.close()
    return document


def _installed_hosts() -> list[dict[str, str]]:
    """Return the hosts that the hook was put into, the version they had, and the way in."""
    from agentlas_memory.installer.hosts import HOSTS, specs_of
    from agentlas_memory.installer.ledger import read_ledger

    home = data_home()
    if not home:
        return []
    try:
        ledger = read_ledger(Path(home))
    except (BrokenFile, OSError):
        return []
    known = [name for name in HOSTS if name in ledger.hosts()]
    return [
        {"host": spec.name, "version": ledger.version(spec.name), "delivery": spec.delivery}
        for spec in (specs_of(known) if known else [])
    ]


def _runtime() -> dict[str, str] | None:
    """Return the version that hosts are served by, which need not be this program's."""
    from agentlas_memory.installer.runtimes.layout import Runtimes

    home = data_home()
    current = Runtimes(Path(home)).current() if home else None
    return None if current is None else {"id": current.id, "version": current.version}


def _describe_agent(project: Project) -> dict[str, Any] | None:
    """Return whose experience is recalled here, and how many rows there are."""
    agent = agent_of(project)
    if agent is None:
        return None
    try:
        store = open_store(agent.database, Deadline(_PATIENCE_MS), EXPERIENCE)
    except StoreUnusable as error:
        return {"name": agent.slug, "rows": None, "reason": str(error)}
    try:
        rows = store.rows("SELECT count(*) FROM experience")[0][0]
        return {"name": agent.slug, "rows": rows, "reason": ""}
    finally:
        store.close()


def _describe_store(project: Project, store: Store) -> dict[str, Any]:
    from agentlas_memory.commands.last_recall import read_receipt

    receipt = read_receipt(store.text("store_id")) or {}
    return {
        "sources": store.rows("SELECT count(*) FROM sources")[0][0],
        "chunks": store.rows("SELECT count(*) FROM chunks")[0][0],
        "indexed_at": _as_iso(store.number("indexed_at")),
        "changed_since": _changed_since(project, store),
        "retrieval": retrieval_of(store),
        "last_silence": receipt.get("silence_reason") or None,
    }


def _changed_since(project: Project, store: Store) -> int | None:
    """Return how many files were added, changed, moved to another scope or removed since then.

    A file that `index` skips for what it holds is none of them.
    """
    from agentlas_memory.ontology.config import ConfigError, load_config
    from agentlas_memory.ontology.walk import Found, walk_project

    sql = "SELECT path, scope, size, changed_ns, content_hash FROM sources WHERE kind <> 'record'"
    known = {path: stamp for path, *stamp in store.rows(sql)}
    root = Path(project.store_root)
    changed = 0
    end = time.monotonic() + _LOOKING_SECONDS
    try:
        config = load_config(root)
        for one in walk_project(root, config):
            if time.monotonic() > end:
                return changed
            if not isinstance(one, Found):
                continue
            if one.path not in known:
                changed += _is_readable(root, one.path)
                continue
            scope, *stamp, digest = known.pop(one.path)
            moved = not one.path.startswith(f"{INBOX}/") and scope != config.scope_of(one.path)
            same = stamp == [one.size, one.changed_ns] or _sha256(root / one.path) == digest
            changed += moved or not same
    except (ConfigError, OSError):
        return None
    return changed + len(known)


def _is_readable(root: Path, path: str) -> bool:
    """Tell whether `index` would take in a new file."""
    from agentlas_memory.ontology.formats import decode_text, read_document
    from agentlas_memory.ontology.notes import NoteError, parse_note
    from agentlas_memory.ontology.walk import TEXT_SUFFIXES

    try:
        data = read_file(str(root / path), MAX_FILE_BYTES, follow=False)
        text = decode_text(data)
        if path.startswith(f"{INBOX}/"):
            parse_note(path, data)
        elif not path.lower().endswith(TEXT_SUFFIXES):
            read_document(path, text.encode())
    except (OSError, UnreadableDocument, NoteError):
        return False
    return True


def _as_iso(seconds: int) -> str | None:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat() if seconds else None


def _sha256(path: Path) -> bytes:
    return hashlib.sha256(read_file(str(path), MAX_FILE_BYTES, follow=False)).digest()


def _last_failure() -> str | None:
    """Return the last line of the hook's log."""
    home = data_home()
    log = Path(home, "state", "hook.log")
    if not home or not log.is_file():
        return None
    lines = log.read_text("utf-8", "replace").splitlines()
    return lines[-1] if lines else None


def _lines(document: dict[str, Any], memory: str, silence: str) -> list[str]:
    store = document["store"]
    agent = document["agent"]
    runtime = document["runtime"]
    told = f"{agent['name']}, {_counted(agent['rows'], 'row')} {agent['reason']}" if agent else "-"
    return [
        f"project:       {document['project'] or '-'}",
        f"memory:        {memory}",
        f"store:         {store['state']}" + (f" ({store['reason']})" if store["reason"] else ""),
        f"sources:       {_shown(document['sources'])}, chunks: {_shown(document['chunks'])}",
        f"indexed:       {document['indexed_at'] or 'never'}",
        f"changed since: {_counted(document['changed_since'], 'file')}",
        f"retrieval:     {document['retrieval'] or '-'}",
        f"experience:    {told.rstrip()}",
        f"assistants:    {', '.join(map(_assistant, document['hosts'])) or '-'}",
        f"version:       {runtime['version'] if runtime else '-'}",
        f"last silence:  {silence}",
        f"last failure:  {document['last_failure'] or '-'}",
    ]


def _assistant(host: dict[str, str]) -> str:
    return f"{host['host']} (delivery: {host['delivery']})"


def _counted(number: int | None, what: str) -> str:
    return f"- {what}s" if number is None else counted(number, what)


def _shown(value: object) -> str:
    return "-" if value is None else str(value)
