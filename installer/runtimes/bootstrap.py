"""What `install.sh` runs, straight out of the bundle's wheel, on the person's own Python."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

from agentlas_memory.home import data_home, user_home
from agentlas_memory.installer.hosts import specs_of
from agentlas_memory.installer.programs import look_up
from agentlas_memory.installer.runtimes.children import isolated, run
from agentlas_memory.installer.runtimes.environments import base_python, python_of
from agentlas_memory.installer.runtimes.layout import Runtimes
from agentlas_memory.installer.runtimes.pin import not_by_pin, pin_file, read_pin, write_pin
from agentlas_memory.installer.runtimes.program import link_program
from agentlas_memory.installer.runtimes.release import (
    KEY,
    RELEASE,
    SIGNATURE,
    Release,
    check_machine,
    read_release,
)
from agentlas_memory.installer.runtimes.routine import Outcome, check_version, install
from agentlas_memory.installer.runtimes.signature import read_key
from agentlas_memory.installer.runtimes.source import FolderSource, Source, take_files
from agentlas_memory.installer.runtimes.steps import step
from agentlas_memory.installer.runtimes.trouble import UpdateFailed, UpdateRefused
from agentlas_memory.installer.surfaces import Place
from agentlas_memory.private_json import BrokenFile

FAILED, REFUSED, INTERRUPTED = 1, 3, 130  # as the commands have them


def main() -> int:
    """Install the bundle in a folder; return the exit code."""
    options = _options()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a narrow locale is no reason to fail
    try:
        document = _install(options)
    except (UpdateFailed, BrokenFile, OSError, KeyboardInterrupt) as error:
        return _tell_failure(error, as_json=options.json)
    if options.json:
        print(json.dumps(document, indent=2))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="agentlas-memory-bootstrap")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--no-hosts", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--checkout", action="store_true", help="the bundle is the person's own")
    return parser.parse_args()


def _install(options: argparse.Namespace) -> dict[str, Any]:
    place = _place()
    with step("open"):
        source = FolderSource(options.bundle)
    with step("read the release"):
        data = source.text(RELEASE)
        if data is None:
            raise UpdateFailed(f"There is no {RELEASE} in {options.bundle}.")
        release = read_release(data)
    with step("check the key"):
        _check_key(place, source, own=options.checkout)
    with step("check the version"):
        check_version(release, Runtimes(place.data_home))
    with step("check the machine"):
        check_machine(release, offline=False)
    if options.dry_run:
        return _dry_run(place, release, source, hosts=not options.no_hosts)
    outcome = install(
        place,
        release,
        lambda folder: source,
        None if options.no_hosts else (),
        vouch=lambda folder: _check_signature(place, source, folder),
    )
    assert outcome is not None
    if (key := source.text(KEY)) and source.text(SIGNATURE):
        write_pin(place.data_home, key)
    with step("link the command"):
        note = link_program(place)
    return _tell(place, outcome, note)


def _place() -> Place:
    home = user_home()
    folder = data_home()
    if not home or not folder:
        raise UpdateFailed("No home directory is known.", "set HOME")
    return Place(Path(home), Path(folder), dict(os.environ))


def _check_key(place: Place, source: Source, *, own: bool) -> None:
    """Raise UpdateRefused for an unsigned bundle where a key is pinned; a checkout is one's own."""
    if source.text(SIGNATURE) is None:
        if read_pin(place.data_home) is not None and not own:
            raise UpdateRefused(
                "The bundle is not signed, and this machine takes releases by a pinned key.",
                f"take a signed bundle; {pin_file(place.data_home)} holds the key",
            )
    elif read_pin(place.data_home) is None:
        read_key(source.text(KEY) or b"", f"{KEY} in the bundle")


def _check_signature(place: Place, source: Source, folder: Path) -> None:
    """Let the new version's own `cryptography` check; this Python need not have it."""
    signature, data = source.text(SIGNATURE), source.text(RELEASE)
    if signature is None or data is None:
        return
    with step("check the signature"):
        files = {"release": data, "signature": signature}
        pin = pin_file(place.data_home)
        files["key"] = pin.read_bytes() if pin.exists() else source.text(KEY) or b""
        for name, content in files.items():
            (folder / f"{name}.check").write_bytes(content)
        words = [folder / f"{name}.check" for name in files]
        module = "agentlas_memory.installer.runtimes.signature"
        ran = run(isolated(python_of(folder), "-m", module, *words), 60.0)
        for word in words:
            word.unlink()
    if ran.code == 1 and not ran.errors and pin.exists():
        raise not_by_pin(place.data_home)
    if ran.code != 0:
        raise UpdateRefused("The release's signature does not hold.", "fetch the bundle again")


def _dry_run(place: Place, release: Release, source: Source, *, hosts: bool) -> dict[str, Any]:
    with step("check every digest"):
        take_files(source, release.files, None)
    runtimes = Runtimes(place.data_home)
    current = runtimes.current()
    folder = runtimes.free_folder(release.version)
    found = _hosts_here(place) if hosts else []
    _say(f"Would build version {release.version} in {folder} with {base_python()}")
    _say(f"Would let it take the place of {current.version if current else 'nothing'}")
    _say(f"Would put the hook into: {', '.join(found) or 'no host'}")
    return {
        "dry_run": True,
        "version": release.version,
        "id": folder.name,
        "path": str(folder),
        "previous": current.version if current else "",
        "python": str(base_python()),
        "hosts": found,
    }


def _hosts_here(place: Place) -> list[str]:
    def ask(command: list[str]) -> str | None:
        return look_up(command, place.environment)

    return [spec.name for spec in specs_of() if spec.detect(place, ask) is not None]


def _tell(place: Place, outcome: Outcome, note: str) -> dict[str, Any]:
    folder = Runtimes(place.data_home).get(outcome.id).folder
    _say(f"Version {outcome.version} is active, in {folder}")
    for host in outcome.hosts:
        tell_host(host)
    if note:
        _say(note)
    return {
        "version": outcome.version,
        "id": outcome.id,
        "path": str(folder),
        "previous": outcome.previous,
        "hosts": outcome.hosts,
        "removed": outcome.removed,
        "note": note,
    }


def tell_host(host: dict[str, Any]) -> None:
    """Tell what its `install` said: how much it changed, what it left, what to know of it now."""
    if not host["detected"]:
        return
    changes, name = host["changes"], host["host"]
    changed = [one for one in changes if one["action"] not in ("unchanged", "refused")]
    _say(f"  {name}: {_counted(len(changed), 'change')}")
    for one in changes:
        if one["action"] == "refused":
            _say(f"  {name}: left as it is: {one['path']}: {one['reason']}")
    if changed or host.get("trust") == "untrusted":
        for note in host.get("notes", ()):  # an older version's `install` tells none
            _say(f"  {name}: note: {note}")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number or 'no'} {what}s"


def _tell_failure(error: BaseException, *, as_json: bool) -> int:
    told = error if isinstance(error, UpdateFailed) else UpdateFailed(str(error) or "Interrupted.")
    for sentence in (
        f"Error: {told.what}",
        told.kept,
        told.next_step and f"Next: {told.next_step}",
    ):
        if sentence:
            _say(sentence)
    if as_json:
        document = {"error": told.what, "kept": told.kept, "next": told.next_step}
        print(json.dumps(document, indent=2))
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return REFUSED if isinstance(error, (UpdateRefused, BrokenFile)) else FAILED


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
