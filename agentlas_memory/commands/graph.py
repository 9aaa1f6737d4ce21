"""`graph show NAME`: what the documents say of a thing, with the lines that say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentlas_memory.commands.errors import UserError
from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import print_json, print_table, say, show
from agentlas_memory.commands.projects import open_project_store, require

if TYPE_CHECKING:
    from agentlas_memory.ontology.graph import Relation


class _NamesToo(click.Group):
    """A group in which a word that is no command is the name of a thing to show."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        named = args[0] not in self.commands and not args[0].startswith("-")
        return super().resolve_command(ctx, ["show", *args] if named else args)


@click.group(cls=_NamesToo)
def graph() -> None:
    """Show an entity, its relations and their evidence; `graph NAME` is `graph show NAME`."""


@graph.command("show")
@click.argument("name")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@common_options
def show_command(name: str, limit: int, named: str | None, as_json: bool) -> None:
    """Show the entity called NAME: a heading, file, identifier, ADR or issue number."""
    from agentlas_memory.ontology.graph import find_entity, relations_of, similar_names

    store = open_project_store(require(named))
    try:
        entity = find_entity(store, name)
        if entity is None:
            raise _unknown(name, similar_names(store, name))
        found = relations_of(store, entity)
    finally:
        store.close()
    if len(found) > limit:
        say(f"{limit} of {len(found)} relations; more with --limit")
    if as_json:
        described = {"key": entity.key, "name": entity.name, "kind": entity.kind}
        relations = [_as_document(one) for one in found[:limit]]
        print_json({"entity": described, "relations": relations})
        return
    show(f"{entity.name} ({entity.kind}, {entity.key})")
    print_table(("subject", "relation", "object", "evidence"), map(_row, found[:limit]))


def _unknown(name: str, similar: list[str]) -> UserError:
    nearest = f" Near it: {', '.join(similar)}." if similar else ""
    return UserError(
        f"No document here names an entity {name!r}.{nearest}",
        next_step="agentlas-memory query TEXT finds what is no entity",
    )


def _as_document(said: Relation) -> dict[str, Any]:
    return {
        "subject": said.subject,
        "relation": said.relation,
        "object": said.object,
        "evidence": {
            "chunk_id": said.chunk_id,
            "source": said.source,
            "heading": said.heading,
            "lines": [said.start_line, said.end_line],
        },
    }


def _row(said: Relation) -> tuple[str, str, str, str]:
    place = f"{said.source}:{said.start_line}-{said.end_line}"
    return said.subject, said.relation, said.object, place
