"""All tables of a deployment at one moment, and the part of them that one asker sees."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from threading import Lock

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.access_names import names_of_asker
from pneuma_assets.core.answer_feedback import SavedAnswer
from pneuma_assets.core.relations.families import name_of_family
from pneuma_assets.core.service.catalog_names import Mask, NameIndex
from pneuma_assets.core.service.catalog_types import TableCard
from pneuma_assets.core.service.describe import moment
from pneuma_assets.core.store.access import share_described
from pneuma_assets.core.store.catalog import ListedLineage, TableTexts
from pneuma_assets.core.store.tables import TableRecord
from pneuma_assets.core.terms.fields import name_parts

_VIEWS = 64
"""Askers of whom is kept what they see; of 10,000 tables with 300,000 columns 0.4 MB each."""


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of the state for a snapshot, kept for the next one.

    `texts` are by table, each with the `text_version` of which it is; `answers` are those
    that people confirmed or rejected.
    """

    listed: Sequence[TableRecord]
    corrected: Mapping[str, str]
    lineage: ListedLineage
    texts: Mapping[str, tuple[object, TableTexts]]
    answers: Sequence[SavedAnswer] = ()


def text_version(one: TableRecord) -> tuple[object, ...]:
    """Return what is another one when the texts of a table may be."""
    return one.indexed_at, one.columns, one.comment


NOTHING = Read((), {}, ListedLineage("", {}, ()), {})
"""Where nothing was ever listed."""


class Snapshot:
    """All tables at one moment; never changed, so threads may share it.

    A table is known by its place among all, ordered by id.

    Args:
        read: What the state says.
        owners: Who owns all tables of a source, by its name, whatever else is said.
        before: The snapshot before this one: if all names were asked for there, they are at hand
            here, the same ones where they are.
    """

    def __init__(
        self,
        read: Read,
        owners: Mapping[str, tuple[str, ...]],
        before: "Snapshot | None" = None,
    ) -> None:
        self.read = read
        self.places = {one.table_id: place for place, one in enumerate(read.listed)}
        self.cards = [_card(one, read, owners) for one in read.listed]
        self.folded = [card.table_id.casefold() for card in self.cards]
        self.searchable = np.array([one.indexed_at is not None for one in read.listed], bool)
        missing = float("nan")
        dates = [missing if one.updated_at is None else one.updated_at for one in read.listed]
        self.updated = np.array(dates, np.float64)
        self.kin = _kin(read.listed)
        self._access = [None if one.readers is None else {*one.readers} for one in read.listed]
        pairs = [
            (self.places[up], self.places[down])
            for up, down in read.lineage.derived
            if up in self.places and down in self.places
        ]
        self.derived = np.array(pairs, np.int32).reshape(len(pairs), 2)
        self._questions = [
            (one.question, f" {' '.join(name_parts(one.question))}", one.tables)
            for one in read.answers
            if one.confirmed and one.resolved
        ]
        self._views: OrderedDict[frozenset[str] | None, View] = OrderedDict()
        self._lock, self._naming = Lock(), Lock()
        self._names: NameIndex | None = None
        if before is not None and before._names is not None:
            self._names = before._names if _same_names(before.read, read) else self._named()

    @property
    def names(self) -> NameIndex:
        """All names; made when first asked for, by one thread."""
        with self._naming:
            if self._names is None:
                self._names = self._named()
            return self._names

    def _named(self) -> NameIndex:
        columns: dict[str, list[int]] = {}
        for place, card in enumerate(self.cards):
            for name in dict.fromkeys(self.read.texts[card.table_id][1].columns):
                columns.setdefault(name, []).append(place)
        return NameIndex([card.name for card in self.cards], columns)

    def questions(self, typed: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield questions of confirmed answers, and their tables, with words that so begin."""
        words = [f" {word}" for word in name_parts(typed)]
        for question, text, tables in self._questions:
            if words and all(word in text for word in words):
                yield question, tables

    def view(self, readers: Sequence[str] | None) -> "View":
        """Return what an asker sees; None: all.

        Raises:
            QueryError: A name is none, or there are too many.
        """
        names = None if readers is None else frozenset(names_of_asker(readers))
        with self._lock:
            found = self._views.pop(names, None)
        if found is None:
            seen = [names is None or may is None or bool(may & names) for may in self._access]
            found = View(self, np.array(seen, bool))
        with self._lock:
            self._views[names] = found
            if len(self._views) > _VIEWS:
                self._views.popitem(last=False)
        return found


class View:
    """The part of a snapshot that one asker sees.

    Attributes:
        all: The snapshot.
        seen: Which tables they see, by place.
    """

    def __init__(self, snapshot: Snapshot, seen: Mask) -> None:
        self.all, self.seen = snapshot, seen

    @cached_property
    def names(self) -> Mask:
        """Which names they see."""
        return self.all.names.seen(self.seen)

    @cached_property
    def feeds(self) -> npt.NDArray[np.int64]:
        """How many tables that they see are built from each table."""
        up, down = self.all.derived[:, 0], self.all.derived[:, 1]
        return np.bincount(up[self.seen[down]], minlength=len(self.seen))

    def sees(self, table_id: str) -> bool:
        """Tell whether there is such a table, and they see it."""
        place = self.all.places.get(table_id)
        return place is not None and bool(self.seen[place])

    def questions(self, typed: str, most: int) -> list[str]:
        """Return up to `most` questions with words that so begin, about tables that they see."""
        found = self.all.questions(typed)
        seen = (question for question, tables in found if all(map(self.sees, tables)))
        return list(islice(dict.fromkeys(seen), most))

    def columns_of(self, table_id: str) -> Sequence[str]:
        """Return the names of a table's columns; none where it is unknown."""
        texts = self.all.read.texts.get(table_id)
        return () if texts is None else texts[1].columns

    def card_of(self, table_id: str) -> TableCard:
        """Return a table that the asker may see; of one that came just now, what its id tells."""
        place = self.all.places.get(table_id)
        if place is not None:
            return self.card(place)
        return _bare_card(table_id)

    def card(self, place: int) -> TableCard:
        """Return a table as the asker sees it."""
        card = self.all.cards[place]
        family = self.family_of(card.table_id)
        return replace(
            card,
            feeds=int(self.feeds[place]),
            copy_of=card.copy_of if card.copy_of and self.sees(card.copy_of) else None,
            family=name_of_family(family) if len(family) > 1 else None,
        )

    def family_of(self, table_id: str) -> list[str]:
        """Return the members of a table's family that the asker sees, ordered by id."""
        return self._kin_of(table_id, "family")

    def copies(self, table_id: str) -> tuple[str, ...]:
        """Return the other tables that the asker sees and that hold what a table holds."""
        return tuple(one for one in self._kin_of(table_id, "copy_of") if one != table_id)

    def _kin_of(self, table_id: str, kind: str) -> list[str]:
        place = self.all.places.get(table_id)
        head = None if place is None else getattr(self.all.cards[place], kind) or table_id
        others = self.all.kin.get((kind, head), ()) if head else ()
        return sorted(one for one in {head, *others} if one and self.sees(one))


def _same_names(one: Read, other: Read) -> bool:
    """Tell whether both have the same tables with the same columns."""
    return one.texts.keys() == other.texts.keys() and all(
        texts.columns == other.texts[table_id][1].columns
        for table_id, (_, texts) in one.texts.items()
    )


def _kin(listed: Iterable[TableRecord]) -> dict[tuple[str, str], list[str]]:
    """Return the tables of each family, and the copies of each table."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in listed:
        for kind, head in (("family", one.family), ("copy_of", one.copy_of)):
            if head is not None:
                found.setdefault((kind, head), []).append(one.table_id)
    return found


def _card(one: TableRecord, read: Read, owners: Mapping[str, tuple[str, ...]]) -> TableCard:
    """Return a table as nobody in particular sees it."""
    texts = read.texts[one.table_id][1]
    told = (*read.lineage.owners.get(one.table_id, ()), *owners.get(one.source, ()))
    return replace(
        _bare_card(one.table_id),
        format=one.format,
        comment=read.corrected.get(one.table_id, texts.comment),
        rows=one.rows,
        columns=one.columns,
        updated_at=moment(one.updated_at),
        owners=tuple(dict.fromkeys(told)),
        documented=share_described(texts.described, one.columns),
        state=one.state,
        copy_of=one.copy_of,
        family=one.family,
    )


def _bare_card(table_id: str) -> TableCard:
    """Return what a table's id tells of it."""
    source, *schema, name = table_id.split("/")
    return TableCard(table_id, source, "/".join(schema), name)
