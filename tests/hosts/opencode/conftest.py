"""OpenCode itself, where it can be had."""

import pytest
from hosts.fetch import Unavailable, npm_package
from hosts.opencode.world import VERSION, program_in


@pytest.fixture(scope="session")
def opencode():
    """The program of the pinned version; without it, its tests are skipped by name."""
    try:
        return program_in(npm_package("opencode-ai", VERSION))
    except Unavailable as error:
        pytest.skip(f"OpenCode {VERSION}: {error}")


@pytest.fixture
def holds(check):
    """Record that a sentence holds for OpenCode."""
    return lambda sentence, truth, detail="": check("opencode", VERSION, sentence, truth, detail)
