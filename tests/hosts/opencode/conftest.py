"""OpenCode itself, where it can be had, in a world of its own."""

import pytest
from hosts.opencode.model_server import ModelServer
from hosts.opencode.world import World


@pytest.fixture
def model():
    with ModelServer() as server:
        yield server


@pytest.fixture
def bare(real_program, program, home, model):
    """OpenCode without our plugin."""
    world = World(real_program, program, home, model)
    yield world
    world.stop()
