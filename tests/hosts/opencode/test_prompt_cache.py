"""How much of each request a prompt cache has seen, with the capsule in one slot or the other."""

import json
from itertools import pairwise, takewhile

import pytest

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

TURNS = 10
# A capsule of 2 KB, another one for each prompt.
HOOK = r"""id=$(sha256sum | cut -c 1-20)
printf '<agentlas-memory-context version="1" digest="sha256:%s">\n' $id
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  printf 'project[docs/%s.md:L%s-9]: evidence for this prompt, about 100 bytes a line\n' $id $n
done
printf '</agentlas-memory-context>'
"""
COMMAND = {"command": "seq 1000 1250", "description": "Prints 1.2 KB"}
ANSWER = "words of an answer " * 30


def as_read(request):
    """Return a request's bytes in the order in which a model reads them: tools, then messages."""
    parts = [request.body["tools"], *request.body["messages"]]
    return "".join(map(json.dumps, parts)).encode()


def kept(earlier, later):
    """Return how many bytes two requests have in common at their beginning."""
    pairs = zip(earlier, later, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def cached(world, slot):
    """Return bytes seen before and all bytes of a session: from turn to turn, and within turns."""
    world.model.requests.clear()
    world.settings(opencode__slot=slot)
    session = world.session()
    for number in range(TURNS):
        world.prompt(session, f"question {number}, " + "about something in the project " * 5)
    requests = [as_read(request) for request in world.model.of_kind("chat")]
    assert len(requests) == 2 * TURNS
    assert all(b"agentlas-memory-context" in request for request in requests)
    pairs = [(kept(earlier, later), len(later)) for earlier, later in pairwise(requests)]
    return [tuple(map(sum, zip(*some, strict=True))) for some in (pairs[1::2], pairs[::2])]


def test_the_default_slot_keeps_more(bare, holds):
    bare.model.script["question"] = [("bash", COMMAND), ANSWER]
    bare.install()
    bare.replace_hook(HOOK)
    bare.serve()
    default, default_steps = cached(bare, "")
    system, system_steps = cached(bare, "system")
    holds(
        "over ten turns, the default slot keeps more for a prompt cache than slot system",
        default[0] / default[1] > system[0] / system[1] + 0.1,
        f"bytes seen before, of all, turn to turn: {default}; slot system: {system}",
    )
    holds(
        "within a turn, either slot keeps all but what is new",
        min(kept / of for kept, of in (default_steps, system_steps)) > 0.95,
        f"step to step: {default_steps}; slot system: {system_steps}",
    )
