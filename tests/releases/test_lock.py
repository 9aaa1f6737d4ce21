"""Every dependency is pinned, with the digests of its files."""

import re
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
LOCKS = {
    "requirements.lock": re.search(
        r"^dependencies = \[(.*?)^\]",
        (ROOT / "pyproject.toml").read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )[1],
    "scripts/release/tools.lock": "\n".join(
        f'"{line}"'
        for line in (ROOT / "scripts/release/tools.in").read_text(encoding="utf-8").splitlines()
        if line[:1] != "#"
    ),
}


def read_pins(lock):
    """Return the requirement and the digests of each pin."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split(" --hash=") for line in text.splitlines() if line[:1] != "#"]
    return [(Requirement(head), digests) for head, *digests in lines]


def there(requirement, python):
    full = {"python_version": python, "python_full_version": f"{python}.0"}
    return not requirement.marker or requirement.marker.evaluate(default_environment() | full)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_covers_what_is_asked_for(lock, python):
    pins = [requirement for requirement, _ in read_pins(lock) if there(requirement, python)]
    pinned = {canonicalize_name(pin.name): next(iter(pin.specifier)).version for pin in pins}
    assert len(pinned) == len(pins)
    for wanted in map(Requirement, re.findall(r'"([^"]+)"', LOCKS[lock])):
        if there(wanted, python):
            assert wanted.specifier.contains(pinned[canonicalize_name(wanted.name)])


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_is_exact_and_has_digests(lock):
    for requirement, digests in read_pins(lock):
        assert [part.operator for part in requirement.specifier] == ["=="]
        assert digests
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}\s*", digest) for digest in digests)


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_names_no_host(lock):
    assert "://" not in (ROOT / lock).read_text(encoding="utf-8")
