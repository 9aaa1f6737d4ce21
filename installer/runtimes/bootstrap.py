"""What `install.sh` runs, straight out of the bundle's wheel, on the person's own Python."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from agentlas_memory import __version__
from agentlas_memory.home import data_home, user_home
from agentlas_memory.installer.hosts import specs_of
from agentlas_memory.installer.programs import look_up
from agentlas_memory.installer.runtimes.children import Ran, isolated, last_words, run
from agentlas_memory.installer.runtimes.environments import base_python, python_of
from agentlas_memory.installer.runtimes.layout import Runtimes
from agentlas_memory.installer.runtimes.pin import not_by_pin, pin_file, read_pin, write_pin
from agentlas_memory.installer.runtimes.program import link_program
from agentlas_memory.installer.runtimes.release import (
    KEY,
    RELEASE,
    SIGNATURE,
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
    if options.dry_run and options.checkout and source.text(RELEASE) is None:
        check_version(__version__, Runtimes(place.data_home))
        return _plan(place, __version__, hosts=not options.no_hosts)
    with step("read the release"):
        data = source.text(RELEASE)
        if data is None:
            raise UpdateFailed(f"There is no {RELEASE} in {options.bundle}.")
    with step("check the key"):
        _check_key(place, source, own=options.checkout)
    checked = _check_signature_here(place, source, data)
    with step("check the version"):
        release = read_release(data)
        check_version(release.version, Runtimes(place.data_home))
    with step("check the machine"):
        check_machine(release, offline=False)
    if options.dry_run:
        with step("check every digest"):
            take_files(source, release.files, None)
        return _plan(place, release.version, release.sha256, hosts=not options.no_hosts)
    outcome = install(
        place,
        release,
        lambda folder: source,
        None if options.no_hosts else (),
        vouch=lambda folder: None if checked else _check_signature(place, source, data, folder),
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


def _check_signature_here(place: Place, source: Source, data: bytes) -> bool:
    """Let the version that is here check, before anything else; False where it cannot tell."""
    current = Runtimes(place.data_home).current()
    if current is None or source.text(SIGNATURE) is None:
        return False
    with step("check the signature"):
        try:
            ran = _ask_signature(place, source, data, current.folder)
        except OSError:  # its Python is gone
            return False
        if ran.code == 1 and not ran.errors:
            raise _not_signed(place)
        return ran.code == 0


def _check_signature(place: Place, source: Source, data: bytes, folder: Path) -> None:
    """Let the new version's own `cryptography` check; this Python need not have it."""
    if source.text(SIGNATURE) is None:
        return
    with step("check the signature"):
        ran = _ask_signature(place, source, data, folder)
        if ran.code == 1 and not ran.errors:
            raise _not_signed(place)
        if ran.code != 0:
            told = f"The release's signature cannot be checked: {last_words(ran)}"
            raise UpdateRefused(told, "fetch the bundle again")


def _ask_signature(place: Place, source: Source, data: bytes, version: Path) -> Ran:
    """Ask a version's Python, by files: they hold what was read, whatever becomes of the bundle."""
    pin = pin_file(place.data_home)
    key = pin.read_bytes() if pin.exists() else source.text(KEY)
    with tempfile.TemporaryDirectory(prefix="agentlas-signature-") as name:
        texts = {RELEASE: data, SIGNATURE: source.text(SIGNATURE), KEY: key}
        words = [Path(name, word) for word in texts]
        for word, text in zip(words, texts.values(), strict=True):
            word.write_bytes(text or b"")
        module = "agentlas_memory.installer.runtimes.signature"
        return run(isolated(python_of(version), "-m", module, *words), 60.0)


def _not_signed(place: Place) -> UpdateRefused:
    if pin_file(place.data_home).exists():
        return not_by_pin(place.data_home)
    return UpdateRefused("The release's signature does not hold.", "fetch the bundle again")


def _plan(place: Place, version: str, sha256: str = "", *, hosts: bool) -> dict[str, Any]:
    """Tell what would be done with a release; a checkout has no digest before it is built."""
    runtimes = Runtimes(place.data_home)
    current = runtimes.current()
    folder = runtimes.free_folder(version)
    found = _hosts_here(place) if hosts else []
    for one in runtimes.all():
        if sha256 and one.facts.get("release_sha256") == sha256:
            _say(f"This release is in {one.folder} already. Only if it is damaged:")
            break
    _say(f"Would build version {version} in {folder} with {base_python()}")
    _say(f"Would let it take the place of {current.version if current else 'nothing'}")
    if hosts:
        _say(f"Would put the hook into: {', '.join(found) or 'no host, since none was found'}")
    else:
        _say("Would leave the assistants alone")
    return {
        "dry_run": True,
        "version": version,
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
    if outcome.built:
        _say(f"Version {outcome.version} is active, in {folder}")
    else:
        _say(f"Version {outcome.version} is active; it was here and is whole, in {folder}")
    for host in outcome.hosts:
        tell_host(host)
    if note:
        _say(note)
    return {
        "version": outcome.version,
        "id": outcome.id,
        "path": str(folder),
        "built": outcome.built,
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
    """Print a sentence; it may quote the bundle, which must not steer a terminal."""
    shown = "".join(one if one.isprintable() or one == "\n" else "?" for one in text)
    print(shown, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
