"""`update` and `rollback`: what is offered, whether it may be taken, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agentlas_memory.installer.ledger import read_ledger
from agentlas_memory.installer.runtimes.activate import activate, plan_hosts
from agentlas_memory.installer.runtimes.channel import Offer, check_location, open_offer
from agentlas_memory.installer.runtimes.history import History
from agentlas_memory.installer.runtimes.layout import Runtime, Runtimes
from agentlas_memory.installer.runtimes.pin import not_by_pin, pin_file, read_pin
from agentlas_memory.installer.runtimes.prune import prune
from agentlas_memory.installer.runtimes.release import (
    RELEASE,
    SIGNATURE,
    Release,
    check_machine,
    is_older,
    read_release,
)
from agentlas_memory.installer.runtimes.routine import (
    Outcome,
    check_version,
    install,
    locked,
    staging,
)
from agentlas_memory.installer.runtimes.selftest import self_test
from agentlas_memory.installer.runtimes.signature import holds
from agentlas_memory.installer.runtimes.source import Source
from agentlas_memory.installer.runtimes.steps import step
from agentlas_memory.installer.runtimes.trouble import UpdateFailed, UpdateRefused
from agentlas_memory.installer.surfaces import Place
from agentlas_memory.private_json import BrokenFile, read_private_json

CHANNEL_SETTING = "update.channel"


@dataclass(frozen=True)
class Offered:
    """A release whose signature holds, and where it can be had."""

    release: Release
    location: str
    offer: Offer


def find_offer(place: Place, named: str | None) -> Offered:
    """Return what a bundle or the channel offers; raise where it may not even be looked at."""
    location = named or _channel(place)
    with step("open"):
        check_location(location)
        offer = open_offer(location)
    with step("read the release"):
        data = offer.text(RELEASE)
        signature = offer.text(SIGNATURE)
        if data is None:
            raise UpdateFailed(
                f"There is no {RELEASE} in {location}.", "name a bundle or a channel"
            )
    with step("check the signature"):
        _check_signature(place, data, signature)
    return Offered(read_release(data), location, offer)


def update(place: Place, named: str | None) -> Outcome | None:
    """Install what is offered; None where the current version is that one already."""
    offered = find_offer(place, named)
    release, runtimes = offered.release, Runtimes(place.data_home)
    with step("check the version"):
        check_version(release.version, runtimes)
        if _is_current(release, runtimes):
            return _settle(place, runtimes)
    with step("check the machine"):
        check_machine(release, offline=named is not None)

    def fetch(folder: Path) -> Source:
        source = offered.offer.fetch(release, folder)
        if read_release(source.text(RELEASE) or b"").sha256 != release.sha256:
            raise UpdateRefused("The bundle is not the one that the channel's release names.")
        return source

    return install(
        place,
        release,
        fetch,
        _hosts(place),
        needless=lambda: _is_current(release, runtimes),
    )


def rollback(place: Place) -> Outcome:
    """Let the version before the current one serve again."""
    runtimes = Runtimes(place.data_home)
    with locked(runtimes):
        history = History(runtimes)
        current, target = runtimes.current(), history.previous()
        if target is None:
            told = "There is no earlier version on this machine to go back to."
            raise UpdateFailed(
                f"{told} {history.trouble}".strip(),
                "`agentlas-memory runtime list` shows what there is",
            )
        with step("clear leftovers"):
            runtimes.clear_leftovers()
        with staging(runtimes) as room, step("self-test"):
            self_test(target.folder, room)
        names = _hosts(place)
        files = plan_hosts(runtimes, target, names)
        outcome = Outcome(target.version, target.id, current.version if current else "")
        outcome.hosts = activate(runtimes, target, names, files)
        outcome.removed = prune(runtimes)
        return outcome


def is_newer(release: Release, current: Runtime | None) -> bool:
    """Tell whether a release is newer than what serves now."""
    if current is None:
        return True
    return release.version != current.version and not is_older(release.version, current.version)


def _settle(place: Place, runtimes: Runtimes) -> Outcome | None:
    """Finish what a kill right after the switch left undone."""
    current = runtimes.current()
    if current is None or not current.is_own or History(runtimes).settled == current.id:
        return None
    with locked(runtimes):
        names = _hosts(place)
        outcome = Outcome(current.version, current.id, current.version)
        outcome.hosts = activate(runtimes, current, names, plan_hosts(runtimes, current, names))
        outcome.removed = prune(runtimes)
        return outcome


def _is_current(release: Release, runtimes: Runtimes) -> bool:
    current = runtimes.current()
    return current is not None and current.version == release.version


def _channel(place: Place) -> str:
    try:
        value = read_private_json(place.data_home / "settings.json").get(CHANNEL_SETTING)
    except (BrokenFile, OSError) as error:
        raise NoChannel(
            f"Your settings cannot be read, so no channel is known: {error}.",
            "repair the file, or use `update --from` with a bundle",
        ) from error
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise NoChannel(
        "No channel is set, so there is nowhere to look for a new version.",
        f'put "{CHANNEL_SETTING}": "FOLDER or https://ADDRESS" into '
        f"{place.data_home / 'settings.json'}, or use `update --from` with a bundle",
    )


class NoChannel(UpdateFailed):
    """Nobody said where releases are to be had."""


def _check_signature(place: Place, data: bytes, signature: bytes | None) -> None:
    pin = read_pin(place.data_home)
    if pin is None:
        raise UpdateRefused(
            "This machine has no key to check a release by.",
            "install once from a signed bundle with its install.sh, or put the maker's "
            f"release-key.pub at {pin_file(place.data_home)}",
        )
    if signature is None:
        raise UpdateRefused("The release is not signed.", "take a signed bundle")
    if not holds(data, signature, pin):
        raise not_by_pin(place.data_home)


def _hosts(place: Place) -> list[str] | None:
    """Return the hosts that the hook is in; None for none: nobody is to be added by an update."""
    return read_ledger(place.data_home).hosts() or None
