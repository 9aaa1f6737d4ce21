"""Whether what we put into a host is still there as we put it, and whether the host can run it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentlas_memory.installer.checks import Check
from agentlas_memory.installer.files import Untouchable, digest, read_text
from agentlas_memory.installer.formats import Unparsable
from agentlas_memory.installer.formats.json_entry import read_entry
from agentlas_memory.installer.ledger import Ledger
from agentlas_memory.installer.plan import Record, plan_install
from agentlas_memory.installer.surfaces import Detected, HostSpec, Place

LookUp = Callable[[list[str]], str | None]  # a host's command -> what it printed, None: it failed


def check_host(
    spec: HostSpec, ledger: Ledger, detected: Detected | None, run: LookUp, place: Place
) -> Iterator[Check]:
    """Look at one host: its version, and whether what we put there still stands."""
    records = ledger.records(spec.name)
    if detected is None:
        if records:
            told = f"{spec.title} is not found any more"
            remove = f"agentlas-memory uninstall --host {spec.name}"
            yield Check("host", spec.name, "warning", told, remove)
        return
    again = f"agentlas-memory install --host {spec.name}"
    if not records:
        told = f"the hook is not in {spec.title}{_hindrance(spec, place)}"
        yield Check("installed", spec.name, "warning", told, again)
        return
    yield _check_version(spec, detected)
    for record in records:
        if record["kind"] == "commands":
            yield _check_plugin(spec, record, detected, run)
        elif trouble := trouble_of(record):
            yield Check("entry", spec.name, "failed", trouble, _remedy(record, again))
        else:
            yield Check("entry", spec.name, "ok", record["path"])


def _remedy(record: Record, again: str) -> str:
    """Return what helps: a file of ours that somebody changed is theirs to put away."""
    path = Path(record["path"])
    return (
        f"move {path} away, then {again}" if record["kind"] == "file" and path.exists() else again
    )


def _hindrance(spec: HostSpec, place: Place) -> str:
    """Return why it could not be put there, blank where it could."""
    planned = plan_install(spec.name, spec.surfaces(place), [])
    return "".join(f"; {one.path}: {one.reason}" for one in planned if one.action == "refused")


def _check_plugin(spec: HostSpec, record: Record, detected: Detected, run: LookUp) -> Check:
    """Ask the host itself whether it has our plugin, and whether it is switched on."""
    mark, again = record["mark"], f"agentlas-memory install --host {spec.name}"
    answer = run([detected.program, *record["query"]]) if detected.program else None
    if answer is None:
        told = f"{spec.title} did not tell which plugins it has"
        return Check("plugin", spec.name, "warning", told, f"see that {spec.title} runs")
    if mark not in answer:
        return Check("plugin", spec.name, "failed", f"{spec.title} does not have {mark}", again)
    if _is_off(answer, mark):
        told = f"{mark} is switched off in {spec.title}"
        return Check("plugin", spec.name, "warning", told, f"enable it in {spec.title}")
    return Check("plugin", spec.name, "ok", mark)


def _is_off(answer: str, mark: str) -> bool:
    try:
        return _has_disabled(json.loads(answer), mark)
    except ValueError:  # not a list that we can read
        return False


def _has_disabled(value: Any, mark: str) -> bool:
    if isinstance(value, dict):
        if mark in [one for one in value.values() if isinstance(one, str)]:
            return value.get("enabled") is False
        value = list(value.values())
    return isinstance(value, list) and any(_has_disabled(one, mark) for one in value)


def _check_version(spec: HostSpec, detected: Detected) -> Check:
    version = detected.version
    if not version:
        told = f"its version could not be asked; {spec.verified} was tested"
        return Check("version", spec.name, "warning", told)
    if _numbers(version) and _numbers(version) < _numbers(spec.oldest):
        told = f"{version} has no such hooks; they came with {spec.oldest}"
        return Check("version", spec.name, "failed", told, "update the host")
    if version != spec.verified:
        told = f"{version} is unverified; {spec.verified} was tested"
        return Check("version", spec.name, "warning", told)
    return Check("version", spec.name, "ok", version)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split("-")[0].split(".") if part.isdigit()]


def trouble_of(record: Record) -> str:
    """Return what is wrong with a file that we put something into, blank for nothing."""
    path = Path(record["path"])
    try:
        text = read_text(path)
        if text is None:
            return f"{path} is gone"
        return "" if _stands(record, text) else f"{path} does not say what we put there"
    except (Untouchable, Unparsable) as error:
        return f"{path}: {error}"


def _stands(record: Record, text: str) -> bool:
    if record["kind"] == "file":
        return bool(digest(text) == record["sha256"])
    if record["kind"] == "json":
        value = read_entry(text, record["key"])
        return bool(digest(json.dumps(value, sort_keys=True)) == record["sha256"])
    begin, end = text.find(record["begin"]), text.find(record["end"])
    return 0 <= begin < end
