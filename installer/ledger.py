"""`install-ledger.json`: what of the hosts' files is ours; uninstall follows it alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentlas_memory.private_json import BrokenFile, edit_private_json, read_private_json

LEDGER = "install-ledger.json"
_VERSION = 1
_SHARED = ("sha256", "replaces")  # of a file's record: true whichever host's it is
_KINDS = {"file", "json", "block", "commands"}


class Ledger:
    """The ledger's hosts, each with the version it had and the records of what we put there."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values
        self._hosts: dict[str, Any] = values.setdefault("hosts", {})

    def hosts(self) -> list[str]:
        """Return the hosts that something is in."""
        return list(self._hosts)

    def version(self, host: str) -> str:
        """Return the version that the host had at install."""
        return str(self._hosts.get(host, {}).get("version", ""))

    def program(self, host: str) -> str:
        """Return the host's program at install, blank for none."""
        return str(self._hosts.get(host, {}).get("program", ""))

    @property
    def links(self) -> list[str]:
        """The links to our programs that we made."""
        first = self._values.get("program")  # as it was noted when there was but one
        return [*([str(first)] if first else []), *map(str, self._values.get("programs", []))]

    @property
    def link_folders(self) -> list[str]:
        """The folders that were made for these links, outermost first."""
        return list(self._values.get("program_folders", []))

    def note_link(self, link: str, folders: list[str]) -> None:
        """Note that a link to a program of ours is about to be made, and folders for it."""
        if link not in self.links:
            self._values.setdefault("programs", []).append(link)
        known = self.link_folders
        self._values["program_folders"] = known + [one for one in folders if one not in known]

    def records(self, host: str) -> list[dict[str, Any]]:
        """Return what we put there, in order."""
        return list(self._hosts.get(host, {}).get("surfaces", []))

    def others(self, host: str) -> list[dict[str, Any]]:
        """Return the records of all other hosts."""
        return [one for name in self._hosts if name != host for one in self.records(name)]

    def put(self, host: str, record: dict[str, Any], version: str, program: str) -> None:
        """Note what is about to be put there; a record of the same thing is replaced."""
        entry = self._hosts.setdefault(host, {"surfaces": []})
        entry["version"], entry["program"] = version, program
        kept = [one for one in entry["surfaces"] if _name(one) != _name(record)]
        at = next(
            (n for n, one in enumerate(entry["surfaces"]) if _name(one) == _name(record)), len(kept)
        )
        entry["surfaces"] = [*kept[:at], record, *kept[at:]]
        self._tell_others(host, record)

    def keep(self, host: str, record: dict[str, Any]) -> None:
        """Note what could not be taken away, or where else it stands."""
        self.put(host, record, self.version(host), self.program(host))

    def _tell_others(self, host: str, record: dict[str, Any]) -> None:
        """Let hosts that share a file know what it holds now."""
        if record["kind"] == "file":
            for one in self.others(host):
                if _name(one) == _name(record):
                    one.update({key: record[key] for key in _SHARED if key in record})

    def remove(self, host: str, record: dict[str, Any]) -> None:
        """Note that something is not there any more; a host without anything goes."""
        surfaces = [one for one in self.records(host) if _name(one) != _name(record)]
        if surfaces:
            self._hosts[host]["surfaces"] = surfaces
        else:
            self._hosts.pop(host, None)


def _name(record: dict[str, Any]) -> tuple[str, str]:
    return record["kind"], record.get("path", "")


def read_ledger(home: Path) -> Ledger:
    """Return the ledger as it stands; raise BrokenFile."""
    return _checked(read_private_json(home / LEDGER), home)


@contextmanager
def edit_ledger(home: Path) -> Iterator[Ledger]:
    """Yield the ledger and write it back whole, if it changed; one process at a time."""
    with edit_private_json(str(home), LEDGER) as values:
        values.setdefault("version", _VERSION)
        yield _checked(values, home)


def _checked(values: dict[str, Any], home: Path) -> Ledger:
    hosts = values.get("hosts", {})
    sound = isinstance(hosts, dict) and all(
        isinstance(host, dict)
        and isinstance(host.get("surfaces"), list)
        and all(isinstance(one, dict) and one.get("kind") in _KINDS for one in host["surfaces"])
        for host in hosts.values()
    )
    if not sound:
        raise BrokenFile(f"{home / LEDGER} does not hold what the installer wrote")
    return Ledger(values)
