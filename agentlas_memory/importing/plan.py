"""What an import would do: decided whole, and shown before anything is written."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.importing.items import MOST_ITEMS, Gathered, Item, Left, one_line
from agentlas_memory.importing.ledger import Taken, read_taken
from agentlas_memory.importing.notefile import (
    NoteFile,
    instruction_of,
    note_identity,
    note_name,
    write_up,
)
from agentlas_memory.importing.secrets import Redactor
from agentlas_memory.importing.texts import Alike, normal
from agentlas_memory.lean import read_file
from agentlas_memory.ontology.documents import INBOX, MAX_FILE_BYTES
from agentlas_memory.ontology.notes import Note, NoteError, list_notes
from agentlas_memory.redact import redact

ADDED, CHANGED, REMOVED = "added", "changed", "removed"


class Wishes(NamedTuple):
    """What the person asked for beside the source."""

    scope: str = "internal"
    again: bool = False  # also what was forgotten, or changed in the inbox
    prune: bool = False  # remove what vanished from the source
    flagged: bool = False  # also what looks like an instruction to a model


class Step(NamedTuple):
    """A note to write or to remove; `before` is the digest of the file that is there, if any."""

    action: str
    note: NoteFile
    place: str
    title: str
    before: str


class Duplicate(NamedTuple):
    """A memory that is there already, word for word or nearly."""

    place: str
    of: str
    near: bool


@dataclass(slots=True)
class Plan:
    """All that an import found; nothing of it holds a credential."""

    origin: str
    place: str
    steps: list[Step] = field(default_factory=list)
    unchanged: int = 0
    forgotten: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    held: list[Left] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    redacted: dict[str, Counter[str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    taken: dict[str, Taken] = field(default_factory=dict)  # the list as it is to become
    found: int = 0

    def of(self, action: str) -> list[Step]:
        """Return the steps of one kind."""
        return [step for step in self.steps if step.action == action]


def make_plan(
    project: Path, gathered: Gathered, wishes: Wishes, documents: Mapping[bytes, str]
) -> Plan:
    """Compare what a source holds with the inbox; `documents` are indexed files by content."""
    return _Planner(project, gathered, wishes, documents).run()


class _Planner:
    """One comparison."""

    def __init__(
        self, project: Path, gathered: Gathered, wishes: Wishes, documents: Mapping[bytes, str]
    ) -> None:
        self._project = project
        self._gathered = gathered
        self._wishes = wishes
        self._documents = documents
        self._redactor = Redactor()
        self._source = gathered.origin.partition(":")[0]
        self._ids: dict[str, str] | None = None
        self._known = read_taken(project)
        self._notes = {note.id: note for note in list_notes(project).notes}
        self._plan = Plan(gathered.origin, gathered.place, taken=dict(self._known))

    def run(self) -> Plan:
        plan = self._plan
        plan.found = len(self._gathered.items)
        plan.remarks += self._gathered.remarks
        plan.left += map(self._clean_left, self._gathered.left)
        plan.held += map(self._clean_left, self._gathered.held)
        items = self._named()
        gone = self._look_for_vanished(items)
        for identity, item, text in self._without_duplicates(items, gone):
            self._decide(identity, item, text, items)
        self._remove(gone)
        plan.redacted = self._shown(self._redactor.found)
        return plan

    def _named(self) -> dict[str, Item]:
        """Return the items by the ids of their notes: known ones first, then the newest."""
        named: dict[str, Item] = {}
        for item in self._gathered.items:
            identity = note_identity(item, self._gathered.origin, self._redactor)
            if identity in named:
                self._leave(item, "has the name of another one")
            else:
                named[identity] = item
        by_key = sorted(named.items(), key=lambda pair: pair[1].key)
        newest = sorted(by_key, key=lambda pair: pair[1].day, reverse=True)
        ordered = sorted(newest, key=lambda pair: pair[0] not in self._known)
        return dict(ordered)

    def _look_for_vanished(self, items: Mapping[str, Item]) -> dict[str, Taken]:
        """Return the notes whose memory is not in the source any more."""
        origin = self._gathered.origin
        if self._gathered.partial:
            return {}
        named = (Item(key, key, "") for key in self._gathered.present)
        present = {note_identity(item, origin, self._redactor) for item in named} | items.keys()
        return {
            identity: taken
            for identity, taken in self._known.items()
            if taken.origin == origin and identity not in present and self._data(taken.file)
        }

    def _without_duplicates(
        self, items: Mapping[str, Item], gone: Mapping[str, Taken]
    ) -> Iterator[tuple[str, Item, str]]:
        others = [note for note in self._notes.values() if self._stands_beside(note, items, gone)]
        said = {normal(note.text): note.path for note in others}
        some = islice(items.values(), MOST_ITEMS)
        alike = Alike([*said, *(normal(item.text) for item in some)])
        for text, path in said.items():
            alike.add(text, path)
        taken = 0
        for identity, item in items.items():
            known = identity in self._known
            if taken >= MOST_ITEMS and not known:
                self._leave(item, f"more than {MOST_ITEMS} memories, and an older one")
                continue
            text = self._redactor.clean(item.text, item.place)
            words = normal(text)
            found = None if known else self._duplicate(item, words, said, alike)
            if found:
                self._plan.duplicates.append(found)
                continue
            taken += 1
            said.setdefault(words, self._shown_place(item))
            alike.add(words, self._shown_place(item))
            yield identity, item, text

    def _stands_beside(
        self, note: Note, items: Mapping[str, Item], gone: Mapping[str, Taken]
    ) -> bool:
        return note.id not in items and not (self._wishes.prune and note.id in gone)

    def _duplicate(
        self, item: Item, words: str, said: Mapping[str, str], alike: Alike
    ) -> Duplicate | None:
        place = self._shown_place(item)
        if path := self._documents.get(item.digest) if item.digest else None:
            return Duplicate(place, path, False)
        if words in said:
            return Duplicate(place, said[words], False)
        near = alike.find(words)
        return Duplicate(place, near, True) if near else None

    def _decide(self, identity: str, item: Item, text: str, items: Mapping[str, Item]) -> None:
        known, note = self._known.get(identity), self._notes.get(identity)
        name = known.file if known else note.path.rpartition("/")[2] if note else ""
        there = self._data(name) if name else b""
        if known and not there and not self._wishes.again:
            self._plan.forgotten.append(self._shown_place(item))
            return
        written = self._write_up(identity, item, text, name or note_name(identity, item), items)
        if written is None:
            return
        before = hashlib.sha256(there).hexdigest() if there else ""
        if written.data == there:
            self._plan.unchanged += 1
        elif there and (known is None or before != known.digest) and not self._wishes.again:
            self._plan.edited.append(self._shown_place(item))
            return
        elif not self._wishes.flagged and (reason := instruction_of(written)):
            self._plan.held.append(Left(self._shown_place(item), reason))
            return
        else:
            action = CHANGED if there else ADDED
            title = redact(item.title)
            self._plan.steps.append(Step(action, written, self._shown_place(item), title, before))
        self._plan.taken[identity] = Taken(self._gathered.origin, written.name, written.digest)

    def _write_up(
        self, identity: str, item: Item, text: str, name: str, items: Mapping[str, Item]
    ) -> NoteFile | None:
        try:
            return write_up(
                item,
                text,
                identity,
                name,
                source=self._source,
                scope=self._wishes.scope,
                ids=self._names(items),
                redactor=self._redactor,
            )
        except NoteError as error:
            self._leave(item, str(error))
            return None

    def _names(self, items: Mapping[str, Item]) -> dict[str, str]:
        """Return the ids of the notes by what other memories may call them."""
        if self._ids is None:
            self._ids = {}
            for identity, item in items.items():
                for name in item.names:
                    self._ids.setdefault(name.casefold(), identity)
        return self._ids

    def _remove(self, gone: Mapping[str, Taken]) -> None:
        for identity, taken in gone.items():
            data = self._data(taken.file)
            note = NoteFile(identity, taken.file, data)
            if self._wishes.prune and note.digest == taken.digest:
                title = self._title(identity)
                self._plan.steps.append(Step(REMOVED, note, taken.file, title, taken.digest))
                del self._plan.taken[identity]
            else:
                self._plan.vanished.append(taken.file)

    def _title(self, identity: str) -> str:
        """Return what stands at the top of a note that is there."""
        note = self._notes.get(identity)
        lines = note.text.split("\n") if note else []
        first = next((line for line in lines if line.strip()), "")
        return redact(one_line(first.strip("# \t")))

    def _data(self, name: str) -> bytes:
        """Return the bytes of a file of the inbox, none where there is no regular one."""
        try:
            return read_file(str(self._project / INBOX / name), MAX_FILE_BYTES + 1, follow=False)
        except OSError:
            return b""

    def _leave(self, item: Item, reason: str) -> None:
        self._plan.left.append(self._clean_left(Left(item.place, reason)))

    def _clean_left(self, left: Left) -> Left:
        return Left(redact(one_line(left.place)), redact(one_line(left.reason)))

    def _shown_place(self, item: Item) -> str:
        return redact(one_line(item.place))

    def _shown(self, found: Mapping[str, Counter[str]]) -> dict[str, Counter[str]]:
        """Return the kinds by place, whose name may be a credential itself."""
        shown: dict[str, Counter[str]] = {}
        for place, kinds in found.items():
            shown.setdefault(redact(one_line(place)), Counter()).update(kinds)
        return shown
