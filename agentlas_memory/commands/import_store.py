"""`import-store`: a store of Agentlas OS gets another name, and what it knows is carried over."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentlas_memory.commands.errors import REFUSED, WRONG_USE, UserError, interrupted, says_yes
from agentlas_memory.commands.import_store_report import say_all, tell
from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import say
from agentlas_memory.commands.projects import find, require_home
from agentlas_memory.ontology.foreign import is_upstream
from agentlas_memory.project import Project
from agentlas_memory.routing_card import CardRejected, card_slug, read_card
from agentlas_memory.trust import read_trust
from agentlas_memory.upstream.moving import (
    check_names,
    finish_move,
    is_kept,
    kept_name,
    report_file,
    set_aside,
)
from agentlas_memory.whole_file import replace_file

if TYPE_CHECKING:
    from agentlas_memory.ontology.agents import Agent
    from agentlas_memory.upstream.report import Report
    from agentlas_memory.upstream.sources import Sources

_PATIENCE = 10.0  # seconds for another writer
_AGAIN = "run agentlas-memory import-store again: it goes on where it ended"


@dataclass
class Scene:
    """What there is to take over: of the project its documents, of the agent its experience."""

    project: Project | None
    documents: Path | None  # the project's old store, where documents are to be carried
    agent: Agent | None
    experience: list[Path]  # old stores with rows of the agent

    @property
    def stores(self) -> list[Path]:
        """All old stores, each once."""
        documents = [self.documents] if self.documents else []
        return list(dict.fromkeys([*documents, *self.experience]))

    def renames(self, store: Path) -> bool:
        """Tell whether a run gives a store its new name: not where only its experience is taken."""
        own = self.agent.database if self.agent else None
        return not is_kept(store) and store in (self.documents, own)


@click.command("import-store")
@click.option(
    "--agent",
    "slug",
    metavar="NAME",
    help="Carry over what this agent learned, and nothing else.",
)
@click.option("--skip-gone", is_flag=True, help="Leave out texts of files that are gone.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common_options
def import_store(
    slug: str | None,
    skip_gone: bool,
    dry_run: bool,
    yes: bool,
    named: str | None,
    as_json: bool,
) -> None:
    """Take over a store of Agentlas OS.

    The file is renamed to ontology-runtime.upstream.sqlite, and nothing is written into it. Files
    that are still in the project are indexed anew; texts that the store alone holds become notes,
    and experience rows lines of the agent's ledger, if the project's routing card is trusted.
    """
    with _explained():
        scene = _look(slug, named)
        report = _preview(scene, skip_gone)
        if not dry_run:
            if not yes:
                _ask(scene, report, skip_gone)
            report = _take_over(scene, skip_gone)
    tell(scene, report, done=not dry_run, as_json=as_json)


@contextmanager
def _explained() -> Iterator[None]:
    """Say what went wrong with an old store, and that it is where it was or under its new name."""
    from agentlas_memory.upstream.moving import NameTaken
    from agentlas_memory.upstream.reading import NotUpstream, UpstreamBusy

    kept = "Nothing of the old store is lost."
    try:
        yield
    except NameTaken as error:
        raise UserError(
            f"The old store cannot be renamed: {error}.",
            kept=kept,
            next_step="move one of the two away, then run agentlas-memory import-store again",
            code=REFUSED,
        ) from error
    except UpstreamBusy as error:
        raise UserError(
            f"The old store is locked: {error}.", kept=kept, next_step="end it, then try again"
        ) from error
    except NotUpstream as error:
        raise UserError(f"The old store cannot be read: {error}.", kept=kept) from error
    except KeyboardInterrupt:
        raise interrupted(kept, _AGAIN) from None


def _look(slug: str | None, named: str | None) -> Scene:
    """Return what is there to be taken over; raise UserError for nothing."""
    project = find(named)
    store = _old_store(Path(project.database)) if project else None
    agent = _agent(slug, project)
    experience = [store] if store and agent else []
    if agent is not None and (own := _old_store(agent.database)):
        experience.append(own)
    scene = Scene(project, store if slug is None else None, agent, experience)
    if not scene.stores:
        raise UserError(
            "There is no store of Agentlas OS"
            + (f" of the agent {agent.slug}, and none" if agent else "")
            + f" in {project.store_root if project else 'this folder'}.",
            code=WRONG_USE,
        )
    return scene


def _old_store(path: Path) -> Path | None:
    """Return where the old store of a place lies now: under that name still, or under its new."""
    for one in (path, kept_name(path)):
        if one.is_file() and not one.is_symlink() and is_upstream(str(one)):
            return one
    return None


def _agent(slug: str | None, project: Project | None) -> Agent | None:
    """Return the agent that was named, or the one that the project's trusted card proves."""
    from agentlas_memory.ontology.agents import agent_in

    home = require_home()
    if slug is not None:
        from agentlas_memory.commands.experience import find_agent

        return find_agent(slug, None)
    trust = read_trust(home, project.store_root) if project else None
    if project is None or trust is None or not trust.card:
        return None
    try:
        card, card_hash = read_card(project.store_root)
        name = card_slug(project.store_root, card)
    except CardRejected:
        return None
    return agent_in(home, name) if card_hash == trust.card else None


def _preview(scene: Scene, skip_gone: bool) -> Report:
    """Return what a run would find and carry; nothing is written."""
    from agentlas_memory.upstream.reading import is_open_elsewhere
    from agentlas_memory.upstream.report import Report

    report = Report()
    for store in scene.stores:
        if scene.renames(store):
            check_names(store)
        if is_open_elsewhere(store):
            say(f"{store} is open in another program; end it first: what it writes is not carried.")
    _count(scene, report)
    if scene.documents and scene.project:
        sources = _sort(scene, scene.documents, report, skip_gone)
        report.carry("files", len(sources.files))
        report.carry("notes", len(sources.texts))
        private = [one for one in sources.texts if one.scope in ("", "private")]
        report.private_notes += len(private)
    if scene.agent:
        _plan_experience(scene, report)
    _leave_rest(report)
    return report


def _count(scene: Scene, report: Report) -> None:
    from agentlas_memory.upstream.preview import (
        count_documents,
        count_memory,
        leave_others,
        note_damage,
    )
    from agentlas_memory.upstream.reading import open_upstream

    own = scene.agent.slug if scene.agent else ""
    agents: Counter[str] = Counter()
    for store in scene.stores:
        with open_upstream(store) as reader:
            if store == scene.documents:
                count_documents(reader, report)
            agents += count_memory(reader, own, report)
            note_damage(reader, report)
    leave_others(scene.stores, agents, own, require_home(), report)


def _leave_rest(report: Report, *, links: bool = True) -> None:
    """Name why the rest stays: every row that was found is carried, or is left for a reason."""
    report.leave_rest("chunks", "they are cut anew from the files and the notes")
    if links:
        report.leave_rest("links", "they are of another kind, or join rows that are not carried")


def _sort(scene: Scene, store: Path, report: Report, skip_gone: bool) -> Sources:
    from agentlas_memory.upstream.reading import open_upstream
    from agentlas_memory.upstream.sources import sort_sources

    assert scene.project is not None
    with open_upstream(store) as reader:
        return sort_sources(reader, Path(scene.project.store_root), report, skip_gone=skip_gone)


def _plan_experience(scene: Scene, report: Report) -> list[dict[str, Any]]:
    """Return the lines that the agent's ledger lacks."""
    from agentlas_memory.ontology.ledger import read_ledger
    from agentlas_memory.upstream.learned import Learned, ledger_events, read_learned_rows
    from agentlas_memory.upstream.reading import open_upstream

    assert scene.agent is not None
    learned = Learned()
    for store in scene.experience:
        with open_upstream(store) as reader:
            read_learned_rows(reader, scene.agent.slug, learned, report)
    ledger = read_ledger(scene.agent.ledger, scene.agent.agent_id)
    return ledger_events(learned, ledger, report)


def _ask(scene: Scene, report: Report, skip_gone: bool) -> None:
    """Show what would be done, and go on only if a person says yes."""
    say_all(scene, report, done=False)
    if not says_yes("Take it over?"):
        raise UserError(
            "Nothing was taken over: nobody said yes.", next_step="--yes says so", code=REFUSED
        )


def _take_over(scene: Scene, skip_gone: bool) -> Report:
    from agentlas_memory.upstream.report import Report

    report = Report()
    _count(scene, report)
    if scene.documents and scene.project:
        _take_documents(scene, scene.project, report, skip_gone)
    if scene.agent:
        _take_experience(scene, scene.agent, report)
    _leave_rest(report)
    return report


def _take_documents(scene: Scene, project: Project, report: Report, skip_gone: bool) -> None:
    """Scopes first, then the new name, then our store: whatever ends this, a next run goes on."""
    from agentlas_memory.commands.index import run
    from agentlas_memory.commands.init import make_settings
    from agentlas_memory.ontology.lock import writer_lock
    from agentlas_memory.trust_file import check_trust_file
    from agentlas_memory.upstream.reading import open_upstream
    from agentlas_memory.upstream.scopes import add_rules, missing_rules
    from agentlas_memory.upstream.texts import write_texts

    assert scene.documents is not None
    root, path = Path(project.store_root), Path(project.database)
    check_trust_file(require_home())
    make_settings(str(root))
    sources = _sort(scene, scene.documents, report, skip_gone)
    with writer_lock(path.parent, _PATIENCE):
        add_rules(root, missing_rules(root, sources.files))
        _move(path)
    run(project)
    finished = _is_finished(path)
    with open_upstream(kept_name(path)) as reader:
        hashes = _indexed(project)[1]
        write_texts(reader, sources.texts, root, hashes, report, is_finished=finished)
    if not finished:
        run(project)
    _count_files(project, sources, report)
    scene.experience = [kept_name(path) if one == path else one for one in scene.experience]
    scene.documents = kept_name(path)
    _leave_rest(report, links=scene.agent is None)
    _keep_report(path, report)


def _move(path: Path) -> None:
    """Give the old store its new name, or clear up behind a run that did and was killed."""
    if _old_store(path) == path:
        set_aside(path)
    elif not path.exists():
        finish_move(path)


def _indexed(project: Project) -> tuple[set[str], set[str]]:
    """Return the paths that our store holds, and the SHA-256 of their files."""
    from agentlas_memory.commands.projects import open_project_store

    store = open_project_store(project)
    try:
        rows = store.rows("SELECT path, lower(hex(content_hash)) FROM sources")
    finally:
        store.close()
    return {str(path) for path, _ in rows}, {str(digest) for _, digest in rows}


def _count_files(project: Project, sources: Sources, report: Report) -> None:
    """Count the files that are indexed now, and name those that `index` does not take."""
    indexed, _ = _indexed(project)
    report.carry("files", len(indexed & sources.files.keys()))
    for path in sorted(sources.files.keys() - indexed):
        report.leave("files", "index leaves it out: see include in memory.toml, and skipped", path)


def _take_experience(scene: Scene, agent: Agent, report: Report) -> None:
    from agentlas_memory.ontology.agents import agent_lock, change_experience

    events = _plan_experience(scene, report)
    with agent_lock(agent):
        _move(agent.database)
    scene.experience = [
        kept_name(one) if one == agent.database else one for one in scene.experience
    ]
    if events or (agent.ledger.exists() and not agent.database.exists()):
        left_out = change_experience(agent, events).projected.left_out
        report.leave(
            "rows of the ledger",
            "its scope is full: they are not recalled",
            count=len(left_out),
        )


def _is_finished(path: Path) -> bool:
    """Tell whether this very store was taken over: a note that was removed since stays removed."""
    try:
        known = json.loads(report_file(path).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(known, dict) and known.get("store") == _stamp(path)


def _stamp(path: Path) -> list[int]:
    info = kept_name(path).stat()
    return [info.st_size, info.st_mtime_ns]


def _keep_report(path: Path, report: Report) -> None:
    """Keep what was carried beside the old store, and that it is done."""
    if _is_finished(path):
        return
    text = json.dumps({"store": _stamp(path)} | report.document(), indent=2) + "\n"
    replace_file(report_file(path), text.encode())
