"""One prompt, one process: read the event, find the project, recall, render.

Whatever happens, the exit code is 0 and the host gets a valid answer; most often the empty one,
since silence is the right answer to most prompts.
"""

import sys

from agentlas_memory.deadline import Deadline, DeadlineReached, arm, disarm, guard, send
from agentlas_memory.events import FORGETTING_SOURCES, PROMPT, START, HookEvent
from agentlas_memory.home import CHILD_VARIABLE, UNREADABLE, data_home, read_settings, user_home
from agentlas_memory.lean import TYPE_CHECKING, getenv

if TYPE_CHECKING:
    from agentlas_memory.capsule import Capsule, Evidence, Learned
    from agentlas_memory.embedding.asset import Asset
    from agentlas_memory.host_adapters import Adapter
    from agentlas_memory.ontology.store import Store
    from agentlas_memory.project import Project
    from agentlas_memory.recall.candidate import Candidate
    from agentlas_memory.receipt import Receipt
    from agentlas_memory.trust import Trust

HOSTS = ("antigravity", "claude", "codex", "grok", "opencode", "raw")
SCOPES = ("public", "internal")  # a project's private rows never reach a hook
HITS = 4
DEADLINE_MS = 1500


class Silence(Exception):
    """There is nothing to say; the text is the reason that `status` shows."""


def main(arguments: list[str] | None = None) -> int:
    """Answer one event of one host on stdout; the exit code is always 0."""
    options: dict[str, str] = {}
    output = None
    try:
        try:
            options.update(read_options(sys.argv[1:] if arguments is None else arguments))
            output = answer(options)
            send(output)
        finally:
            disarm()  # inside the door: the clock may strike until it is done
    except BaseException as error:  # the one door where everything ends
        report(options.get("host", ""), error)
        if output is None:
            send(empty_answer(options.get("host", "")))
    return 0


def read_options(arguments: list[str]) -> dict[str, str]:
    """Return `--name value` and `--name=value` pairs; what is not one is passed over."""
    options = {}
    words = iter(arguments)
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            options[name] = value if equals else next(words, "")
    return options


def answer(options: dict[str, str]) -> bytes:
    """Return what the host is to be told."""
    host = options.get("host", "")
    if host not in HOSTS:
        report("", ValueError(f"--host takes one of: {', '.join(HOSTS)}"))
        return b""
    home = data_home()
    settings = read_settings(home) if home else {}
    milliseconds = deadline_of(settings)
    deadline = Deadline(milliseconds)
    arm(milliseconds)
    adapter = load_adapter(host)
    payload = read_payload(options, deadline)  # always: a host must not meet a broken pipe
    if any(map(getenv, (CHILD_VARIABLE, *adapter.FOREIGN_VARIABLES))):
        return adapter.EMPTY
    event = adapter.parse(payload, options.get("event", ""), settings)
    if event is None:
        return adapter.EMPTY
    adapter.prepare(event, home)
    if getenv("AGENTLAS_MEMORY") == "off":
        return adapter.EMPTY
    if not adapter.KEEPS_CONTEXT or settings.get("delivery") == "every_turn":
        event.session = ""  # what has no session is delivered every time
    capsule = remember_for(event, host, home, settings, deadline)
    return adapter.EMPTY if capsule is None else adapter.render(event, capsule.text, home)


def load_adapter(host: str) -> "Adapter":
    """Return one host's room; no other host's is imported."""
    return __import__(f"agentlas_memory.host_adapters.{host}.adapter", fromlist=["parse"])


def empty_answer(host: str) -> bytes:
    """Return what tells a host nothing, whatever went wrong."""
    try:
        return load_adapter(host).EMPTY if host in HOSTS else b""
    except BaseException:
        return b""


def deadline_of(settings: dict[str, object]) -> float:
    """Return the milliseconds that one run may take; hosts end a hook after 5 seconds."""
    wanted = settings.get("deadline_ms")
    return wanted if isinstance(wanted, float) and 50 <= wanted <= 4000 else DEADLINE_MS


def read_payload(options: dict[str, str], deadline: Deadline) -> dict[str, object]:
    """Return the host's event from stdin; options on the command line stand in for fields."""
    payload: dict[str, object] = {}
    if "prompt" not in options:
        from agentlas_memory.stdin import read_event

        payload = read_event(0, deadline)
    payload.update({name: options[name] for name in ("cwd", "prompt") if name in options})
    return payload


def remember_for(
    event: HookEvent, host: str, home: str, settings: dict[str, object], deadline: Deadline
) -> "Capsule | None":
    """Return the capsule for an event, None for silence; leaves a receipt of a trusted store."""
    from agentlas_memory.project import find_project

    share = settings.get("worktree") != "isolated"
    project = find_project(event.cwd or ".", user_home(), share, home)
    deadline.stage("project")
    if project is None:
        return None

    from agentlas_memory.receipt import Receipt

    receipt = Receipt(host, deadline)
    receipt.event = event.name
    guard(deadline, load_adapter(host).EMPTY, lambda error: report(host, error))
    capsule = None
    try:
        found = recall_capsule(event, project, settings, home, receipt)
        deliver(found, event, host, home)
        capsule = found
    except Silence as silence:
        receipt.silence_reason = str(silence)
    except DeadlineReached:
        receipt.silence_reason = "deadline"
    except Exception as error:  # the receipt is to say that this run failed, not how the last went
        report(host, error)
        receipt.silence_reason = "deadline" if deadline.passed() else "store_error"
    deadline.stage("deliver")
    try:  # noqa: SIM105 - contextlib costs a millisecond
        receipt.save(home)
    except (OSError, DeadlineReached):
        pass
    return capsule


def recall_capsule(
    event: HookEvent,
    project: "Project",
    settings: dict[str, object],
    home: str,
    receipt: "Receipt",
) -> "Capsule":
    """Return the evidence that bears on an event; raise Silence when there is none."""
    trust = require_trust(project, home, receipt)
    if settings.get("off") is True:
        if settings is UNREADABLE:
            report(receipt.host, ValueError("settings.json holds no JSON object; it may say `off`"))
        raise Silence("off")
    if event.subagent and settings.get("subagents") is not True:
        raise Silence("subagent")
    forget_delivered(event, receipt.host, home)
    store = open_trusted(project, receipt) if project.has_store else None
    receipt.deadline.stage("open")
    try:
        if event.kind != PROMPT:
            return state_capsule(store, project)
        return prompt_capsule(event.prompt, store, project, trust, home, receipt)
    finally:
        if store is not None:
            store.close()


def require_trust(project: "Project", home: str, receipt: "Receipt") -> "Trust":
    """Return what this machine's user said of the project; raise Silence unless it is a yes."""
    from agentlas_memory.trust import owned_by_us_alone, read_trust

    trust = read_trust(home, project.store_root)
    if trust is None:
        raise Silence("untrusted")
    receipt.store_id = trust.store_id
    if project.has_store and not trust.shared and not owned_by_us_alone(project.database):
        raise Silence("untrusted")  # others may have changed what the user said yes to
    if not trust.on:
        raise Silence("off")
    return trust


def open_trusted(project: "Project", receipt: "Receipt") -> "Store":
    """Return the project's store, if it is exactly the one that is trusted."""
    from agentlas_memory.ontology.store import StoreUnusable, open_store

    try:
        store = open_store(project.database, receipt.deadline)
    except StoreUnusable as error:
        receipt.deadline.check()  # interrupted by our own clock
        report(receipt.host, error)
        raise Silence("store_error") from error
    if store.text("store_id") != receipt.store_id:
        store.close()
        raise Silence("untrusted")
    if store.config_changed():
        store.close()
        raise Silence("stale")
    return store


def prompt_capsule(
    prompt: str,
    store: "Store | None",
    project: "Project",
    trust: "Trust",
    home: str,
    receipt: "Receipt",
) -> "Capsule":
    """Return what is known that bears on a prompt: the project's, then its agent's."""
    from agentlas_memory.embedding.model import open_model

    if not prompt.strip():
        raise Silence("no_prompt")
    asset = open_model(home)
    found = [] if store is None else project_hits(prompt, store, project, asset, receipt)
    learned = agent_hits(prompt, project, trust, asset, home, receipt) if trust.card else []
    if not found and not learned:
        raise Silence(receipt.silence_reason or "gated")

    # Most prompts end above: what renders is loaded when there is something to render.
    from agentlas_memory.capsule import render_capsule
    from agentlas_memory.recall.evidence import evidence_of, learned_of

    evidence: list[Evidence | Learned] = [*map(evidence_of, found)]
    evidence += map(learned_of, learned)
    capsule = render_capsule(evidence, receipt.retrieval)
    if capsule is None:
        raise Silence("gated")
    receipt.silence_reason = ""
    return capsule


def project_hits(
    prompt: str, store: "Store", project: "Project", asset: "Asset | None", receipt: "Receipt"
) -> "list[Candidate]":
    """Return the project's chunks that bear on a prompt."""
    from agentlas_memory.recall.engine import recall

    found = recall(
        store,
        prompt,
        scopes=SCOPES,
        limit=HITS,
        root=project.root,
        asset=asset,
        deadline=receipt.deadline,
    )
    receipt.retrieval = found.retrieval
    receipt.candidates = found.candidates
    receipt.silence_reason = found.silence_reason
    return found.hits


def agent_hits(
    prompt: str,
    project: "Project",
    trust: "Trust",
    asset: "Asset | None",
    home: str,
    receipt: "Receipt",
) -> "list[Candidate]":
    """Return what the project's verified agent learned that bears on a prompt; never an error."""
    from agentlas_memory.recall.experience import recall_as_agent
    from agentlas_memory.routing_card import CardRejected, verify_card

    try:
        agent = verify_card(project.store_root, home, trust.card)
        found = recall_as_agent(agent, prompt, asset, receipt.deadline)
    except CardRejected:
        return []
    except DeadlineReached:  # what was found in the project is delivered without it
        receipt.silence_reason = receipt.silence_reason or "deadline"
        return []
    except Exception as error:
        report(receipt.host, error)
        receipt.silence_reason = receipt.silence_reason or "store_error"
        return []
    finally:
        receipt.deadline.stage("experience")
    receipt.agent = agent.slug
    receipt.experience = found.candidates
    receipt.retrieval = receipt.retrieval or found.retrieval
    receipt.silence_reason = receipt.silence_reason or found.silence_reason
    return found.hits


def state_capsule(store: "Store | None", project: "Project") -> "Capsule":
    """Return what holds in the project, for events that ask nothing."""
    if store is None:
        raise Silence("no_prompt")
    from agentlas_memory.capsule import render_capsule
    from agentlas_memory.recall.evidence import evidence_of_row
    from agentlas_memory.recall.project_state import MAX_CHARACTERS, project_state

    rows = project_state(store, SCOPES, project.root)
    evidence = [evidence_of_row(row) for row in rows]
    capsule = render_capsule(evidence, "project_state", MAX_CHARACTERS)
    if capsule is None:
        raise Silence("no_prompt")
    return capsule


def forget_delivered(event: HookEvent, host: str, home: str) -> None:
    """Begin anew where the host dropped its context; raise Silence for a repeat of that event."""
    if event.kind == START and event.source in FORGETTING_SOURCES:
        from agentlas_memory.delivery import Delivery

        if not Delivery(home, host, event.session).forget():
            raise Silence("delivered")


def deliver(capsule: "Capsule", event: HookEvent, host: str, home: str) -> None:
    """Raise Silence when this session has the capsule already."""
    from agentlas_memory.delivery import Delivery

    if not Delivery(home, host, event.session).first_time(capsule.digest):
        raise Silence("delivered")


def report(host: str, error: BaseException) -> None:
    """Leave a trace of a swallowed failure where `doctor` finds it."""
    try:
        from agentlas_memory.failure_log import log_failure

        log_failure(data_home(), host, error)
        if getenv("AGENTLAS_MEMORY_HOOK_DEBUG") == "1":
            sys.excepthook(type(error), error, error.__traceback__)
    except BaseException:
        pass  # there is no door behind this one
