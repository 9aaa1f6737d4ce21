"""What all hosts' tests share: a report of checks, and programs that may be missing here."""

import functools
import json
import os
from pathlib import Path

import pytest
from hosts.fetch import FETCHED, NEWEST, Unavailable, fetch_host
from hosts.processes import end_all_of

from agentlas_memory.installer.hosts import specs_of

REPORT = os.environ.get("AGENTLAS_CONFORMANCE_REPORT")  # before each test's home hides it
TOLD = pytest.StashKey[bool]()  # that the report has what became of a test already


def report(host, check, result, detail=""):
    """Add one JSON line to the file that AGENTLAS_CONFORMANCE_REPORT names."""
    if REPORT:
        [spec] = specs_of([host])
        line = {"host": host, "version": FETCHED.get(host, spec.verified)}
        line |= {"check": check, "result": result, "detail": str(detail)[:500]}
        with Path(REPORT).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


@pytest.fixture
def host_name(request):
    """The host whose folder the test is in."""
    return request.path.parent.name


@pytest.fixture
def holds(request, host_name):
    """Record one check of this host by its sentence; fail where it does not hold.

    On a newest version only after all checks of the test: what still holds there is told too.
    """
    failed = []

    def record(sentence, truth, detail=""):
        report(host_name, sentence, "ok" if truth else "failed", detail)
        if not truth:
            failed.append(f"{host_name}: {sentence}: {detail}")
        request.node.stash[TOLD] = bool(failed)
        assert truth or NEWEST, failed[-1]

    yield record
    assert not (NEWEST and failed), "\n".join(failed)


@pytest.fixture
def not_applicable(host_name):
    """Record that a check cannot be run on this host, and why."""
    return lambda sentence, reason: report(host_name, sentence, f"n/a: {reason}")


@pytest.fixture
def real_program(request, host_name, home):
    """This host's program; where it cannot be had, the test is skipped and says why."""
    program = _program_of(host_name)
    if isinstance(program, Unavailable):
        request.node.stash[TOLD] = True
        pytest.skip(f"{host_name}: {program}")
    yield program
    end_all_of(home)


@functools.cache
def _program_of(host):
    [spec] = specs_of([host])
    try:
        return fetch_host(host, spec.verified)
    except Unavailable as reason:
        report(host, "every check", f"skipped: {reason}")
        return reason


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Report what no check's own line tells: a test that broke, or that could not be run."""
    outcome = yield
    real = item.get_closest_marker("conformance") is not None
    if real and (outcome.failed or outcome.skipped) and not item.stash.get(TOLD, False):
        result = "failed" if outcome.failed else f"skipped: {call.excinfo.value}"
        report(item.path.parent.name, f"`{item.name}` runs to its end", result, call.excinfo.value)
    return outcome
