"""`query`: ask the memory as the hook would, and see what it ranks."""

from __future__ import annotations

import click

from agentlas_memory.commands.options import HOOK_SCOPES, common_options, plain_text, scope_choice
from agentlas_memory.commands.output import print_json, printable, say, show
from agentlas_memory.commands.projects import open_project_store, require


@click.command()
@click.argument("text", type=plain_text)
@click.option("--limit", type=click.IntRange(min=1), default=8, show_default=True)
@click.option("--scope", "scopes", type=scope_choice, multiple=True, default=HOOK_SCOPES)
@click.option("--no-gate", is_flag=True, help="Rank without the tests that keep the hook silent.")
@common_options
def query(
    text: str,
    limit: int,
    scopes: tuple[str, ...],
    no_gate: bool,
    named: str | None,
    as_json: bool,
) -> None:
    """Show the hits for TEXT, best first; none for most texts that are not about the project."""
    from agentlas_memory.commands.candidates import candidate_document, hit_document, why_nothing
    from agentlas_memory.commands.standing import is_trusted
    from agentlas_memory.runtime import OntologyRuntime

    project = require(named)
    open_project_store(project).close()
    if not is_trusted(project):
        say("Warning: this store is not trusted: hooks are silent here until you trust it.")
    runtime = OntologyRuntime(project.database, root=project.root)
    found = runtime.explain(text, scopes=scopes, limit=limit, gated=not no_gate)
    hits = [hit_document(candidate) for candidate in found.hits]
    if as_json:
        print_json({"query": text, "retrieval": found.retrieval, "hits": hits})
        return
    if not hits:
        documents = [candidate_document(one, None) for one in found.candidates]
        say(why_nothing(documents, found.silence_reason))
        if documents and not no_gate:
            say("Next: --no-gate shows what is ranked all the same.")
    for number, candidate in enumerate(found.hits, 1):
        document = hit_document(candidate) | candidate_document(candidate, number)
        show(_as_text(number, document))


def _as_text(number: int, hit: dict[str, object]) -> str:
    from agentlas_memory.commands.candidates import place

    heading = f"  {hit['heading']}" if hit["heading"] else ""
    scope = f"{hit['scope']}, {hit['standing']}" if hit["standing"] else hit["scope"]
    text = "\n".join("   " + printable(line) for line in str(hit["text"]).split("\n"))
    return f"{number}. {place(hit)}{heading}  ({scope}, score {hit['score']:.4f})\n{text}\n"
