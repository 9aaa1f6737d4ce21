"""A little of each campaign of `scripts/fuzz`; the rest is for the night."""

import importlib
import shutil

import pytest

pytestmark = pytest.mark.slow
SEED = "tests"  # chance that is the same each time: a test that fails can be run again
COUNTS = {
    "corruption": 80,
    "hook_processes": 60,
    "hook_runs": 600,
    "cards": 1000,
    "documents": 60,
    "faults": 80,
    "starving": 24,
}


def run(name, count):
    """Run a part of a campaign and return what it came to."""
    from fuzz.campaign import Campaign

    campaign = Campaign(SEED)
    importlib.import_module(f"fuzz.{name}").run(campaign, 0, count)
    return campaign


@pytest.fixture
def strace():
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")


def test_what_a_damaged_store_still_says_stands_in_the_intact_one():
    campaign = run("corruption", COUNTS["corruption"])
    assert campaign.faults == []
    assert campaign.figures["answered"] > 10


@pytest.mark.parametrize("name", ["hook_processes", "hook_runs"])
def test_any_event_is_answered_rightly_or_not_at_all(name, monkeypatch):
    from agentlas_memory import hook
    from agentlas_memory.ontology import store

    monkeypatch.setattr(hook, "guard", hook.guard)  # the campaign puts its own in their places
    monkeypatch.setattr(store, "open_store", store.open_store)
    campaign = run(name, COUNTS[name])
    assert campaign.faults == []
    assert campaign.figures["reached the store"] >= COUNTS[name] / 2


def test_any_card_is_accepted_or_rejected():
    campaign = run("cards", COUNTS["cards"])
    assert campaign.faults == []
    assert campaign.figures["accepted"] > 50


def test_any_document_is_read_and_its_chunks_stand_where_they_say():
    campaign = run("documents", COUNTS["documents"])
    assert campaign.faults == []
    assert campaign.figures["chunks in stores"] > COUNTS["documents"]


def test_any_failing_call_ends_in_silence_or_the_right_answer(strace):
    campaign = run("faults", COUNTS["faults"])
    assert campaign.faults == []
    assert campaign.figures["injected"] > COUNTS["faults"] / 2


def test_too_little_memory_ends_in_silence_or_the_right_answer():
    campaign = run("starving", COUNTS["starving"])
    assert campaign.faults == []
    assert campaign.figures["answered"] and campaign.figures["silent"]


def test_the_judge_knows_a_wrong_answer(scene, hooks):
    """A campaign that finds nothing proves nothing unless it can find something."""
    from fuzz.answers import Intact, WrongAnswer, capsule_in

    intact = Intact(scene.store)
    said = hooks.run(scene, scene.event()).stdout
    intact.check(capsule_in(said, "raw", ""))
    with pytest.raises(WrongAnswer, match="digest"):
        capsule_in(said.replace(b"integer", b"decimal"), "raw", "")
    with pytest.raises(WrongAnswer, match="does not say"):
        intact.check(said.decode().replace("integer", "decimal"))
    with pytest.raises(WrongAnswer, match="does not say"):
        intact.check(said.decode().replace(":L3-3]", ":L4-4]"))
