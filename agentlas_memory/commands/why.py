"""`why`: each candidate of a recall with its numbers, or the reason of a silence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from agentlas_memory.commands.errors import WRONG_USE, UserError
from agentlas_memory.commands.options import HOOK_HITS, HOOK_SCOPES, common_options, plain_text
from agentlas_memory.commands.output import counted, print_json, print_table, say
from agentlas_memory.commands.projects import open_project_store, require
from agentlas_memory.commands.silence import in_words
from agentlas_memory.commands.standing import agent_of, silenced_by, without_agent
from agentlas_memory.project import Project

if TYPE_CHECKING:
    from agentlas_memory.recall.candidate import Candidate
    from agentlas_memory.recall.engine import Recall


@click.command()
@click.argument("text", type=plain_text, required=False)
@click.option("--last", is_flag=True, help="Explain the last prompt a host asked about.")
@common_options
def why(text: str | None, last: bool, named: str | None, as_json: bool) -> None:
    """Explain what the prompt TEXT recalls here, or why nothing.

    Of the last prompt only numbers were kept, not its words: matched terms are missing then.
    """
    if last == (text is not None):
        raise UserError("Give a prompt, or --last.", code=WRONG_USE)
    project = require(named)
    if project.has_store or agent_of(project) is None:
        open_project_store(project).close()
    document = explain_last(project) if text is None else explain_prompt(project, text)
    if as_json:
        print_json(document)
    else:
        say(_first_line(project, document))
        _print(document)


def _first_line(project: Project, document: dict[str, Any]) -> str:
    """Return in words what an assistant is told, or why nothing."""
    reason = document["silence_reason"]
    shown = len(document["hits"]) + sum(bool(one["rank"]) for one in document["experience"])
    if document["query"] is None:
        start, told = f"The last prompt{_moment_of_last(project)}", "an assistant was told"
    else:
        start, told = "To this prompt", "an assistant is told"
    if not reason:
        return f"{start}: {told} {counted(shown, 'passage')}, those with a rank."
    more = " The ranked ones below it would be told otherwise." if shown else ""
    return f"{start}: {told} nothing, as {in_words(reason, project)}.{more}"


def _moment_of_last(project: Project) -> str:
    from agentlas_memory.commands.last_recall import moment_of_last

    moment = moment_of_last(project)
    return f" ({moment:%Y-%m-%d %H:%M:%S} UTC)" if moment else ""


def explain_prompt(project: Project, text: str) -> dict[str, Any]:
    """Return what the hook would recall for a prompt, with every candidate."""
    from agentlas_memory.commands.candidates import hit_document
    from agentlas_memory.commands.shown import shown_parts
    from agentlas_memory.runtime import OntologyRuntime

    found = None
    if project.has_store:
        runtime = OntologyRuntime(project.database, root=project.root)
        found = runtime.explain(text, scopes=HOOK_SCOPES, limit=HOOK_HITS)
    agent = agent_of(project)
    learned = None
    if agent is not None:
        with without_agent(project, agent.slug):
            learned = OntologyRuntime(agent.database).explain_experience(text, agent.agent_id)
    first = found or learned
    said = bool((found and found.hits) or (learned and learned.hits))
    reason = "" if said or first is None else first.silence_reason
    return {
        "query": text,
        "retrieval": first.retrieval if first else "",
        "hits": [hit_document(hit) for hit in found.hits] if found else [],
        "judged_by": _judged_by(first) if first else None,
        **_fates(
            found.candidates if found else [],
            found.hits if found else [],
            shown_parts(found) if found else {},
        ),
        "agent": agent and agent.slug,
        "experience": _documents(
            learned.candidates if learned else [], learned.hits if learned else []
        ),
        "silence_reason": silenced_by(project) or reason or None,
    }


def _judged_by(found: Recall) -> dict[str, Any] | None:
    """Return what the evidence of every candidate was held against."""
    gates = found.gates
    if gates is None:
        return None
    weights = {
        found.question.terms[name].surface: round(weight, 2)
        for name, weight in gates.weights.of.items()
    }
    return {
        "gate": round(gates.height, 2),
        "noise": gates.noise,
        "typical_cosine": round(gates.typical, 3),
        "weights": weights,
    }


def explain_last(project: Project) -> dict[str, Any]:
    """Return what the last hook run in this project recalled, from its receipt."""
    from agentlas_memory.commands.candidates import hit_document
    from agentlas_memory.commands.last_recall import read_last

    receipt = read_last(project)
    if receipt is None:
        raise UserError(
            "No prompt has been asked about here yet.",
            next_step='agentlas-memory why "some prompt" explains one without a host',
        )
    hits, learned = map(_passed, (receipt.candidates, receipt.experience))
    agent = agent_of(project)
    return {
        "query": None,
        "retrieval": receipt.retrieval,
        "hits": [hit_document(hit) for hit in hits],
        "judged_by": None,
        **_fates(receipt.candidates, hits, {}),
        "agent": agent and agent.slug,
        "experience": _documents(receipt.experience, learned),
        "silence_reason": receipt.silence_reason or None,
    }


def _passed(candidates: list[Candidate]) -> list[Candidate]:
    return [one for one in candidates if not one.gate and one.row is not None]


def _documents(candidates: list[Candidate], hits: list[Candidate]) -> list[dict[str, Any]]:
    from agentlas_memory.commands.candidates import candidate_document

    ranks = {hit.chunk_id: rank for rank, hit in enumerate(hits, 1)}
    return [candidate_document(one, ranks.get(one.chunk_id)) for one in candidates]


def _fates(
    found: list[Candidate], hits: list[Candidate], parts: dict[int, dict[str, Any]]
) -> dict[str, Any]:
    """Return how the candidates fared: all, a count for each gate, those that were dropped."""
    candidates = [one | {"shown": parts.get(one["chunk_id"])} for one in _documents(found, hits)]
    gates = Counter(one["gate"] or "passed" for one in candidates)
    keys = ("chunk_id", "source", "lines", "gate", "margin")
    return {
        "candidates": candidates,
        "gates": dict(gates),
        "dropped": [{key: one[key] for key in keys} for one in candidates if one["gate"]],
    }


def _print(document: dict[str, Any]) -> None:
    from agentlas_memory.commands.candidates import COLUMNS, table_row, why_nothing

    reason = document["silence_reason"]
    say(f"retrieval: {document['retrieval'] or '-'}")
    if judged_by := document["judged_by"]:
        say(_standards(judged_by))
    if document["candidates"]:
        print_table(COLUMNS, [table_row(one) for one in document["candidates"]])
    for one in document["candidates"]:
        if shown := one["shown"]:
            say(_as_sentence(one["rank"], shown))
    if document["agent"]:
        rows = counted(len(document["experience"]), "row")
        say(f"experience of {document['agent']}: {rows} looked at")
    if document["experience"]:
        print_table(COLUMNS, [table_row(one) for one in document["experience"]])
    if not document["hits"] and not any(one["rank"] for one in document["experience"]):
        say(why_nothing(document["candidates"], reason))
    if reason:
        say(f"silence_reason: {reason}")


def _standards(judged_by: dict[str, Any]) -> str:
    """Return what a candidate needed, in one line."""
    noise = judged_by["noise"]
    measured = "" if noise is None else f" (unrelated prompts reach {noise:.2f} here)"
    words = ", ".join(f"{word} {weight:.2f}" for word, weight in judged_by["weights"].items())
    return (
        f"gate: evidence of {judged_by['gate']:.2f}{measured}; any chunk here has a cosine of"
        f" {judged_by['typical_cosine']:.2f}; words: {words}"
    )


def _as_sentence(rank: int, shown: dict[str, Any]) -> str:
    first, last = shown["lines"]
    kept = f"lines {first}-{last}, {shown['characters']} characters" if first else "its text"
    secrets = f", {shown['redacted']} credentials redacted" if shown["redacted"] else ""
    return f"hit {rank}: {kept}{secrets}" if shown["fits"] else f"hit {rank}: over the budget"
