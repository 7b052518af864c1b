"""The tables that exist, as steps read them: one table each, or all members of a family as one."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os.path import commonprefix

import pyarrow as pa

from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.seek.operators.sql_text import common_type, member_of
from pneuma_assets.core.seek.operators.union import united_in_parts, unlike
from pneuma_assets.core.seek.results import Finding, MakeBounds, Relations, unread_findings
from pneuma_assets.core.seek.state import Source
from pneuma_assets.core.seek.tables import InHand, Readable, Tables


@dataclass(slots=True)
class Room:
    """Bytes that are left for rows kept in memory."""

    left: int


def readable(source: Source, relations: Relations, bounds: MakeBounds, room: Room) -> Readable:
    """Return a source as steps read it."""
    members = members_of(source)
    if len(members) == 1:
        return Existing(source, relations, room)
    parts = {label: Existing(one, relations, room) for label, one in members.items()}
    return Family(source.name, parts, bounds)


def members_of(source: Source) -> dict[str, Source]:
    """Return the tables that a source stands for, by what tells their ids apart: `2019`, `2020`."""
    ids = source.table_ids
    if len(ids) < 2:
        return {source.name: source}
    head = re.sub(r"[^\W_]+$", "", commonprefix(ids))  # noqa: RUF071 (of texts, not of paths)
    behind = commonprefix([one[len(head) :][::-1] for one in ids])[::-1]  # noqa: RUF071
    tail = re.sub(r"^[^\W_]+", "", behind)
    return {
        one[len(head) : len(one) - len(tail)] or one: Source(name=source.name, table_ids=(one,))
        for one in ids
    }


class Existing:
    """One table, of which the rows that were read are kept where there is room."""

    def __init__(self, source: Source, relations: Relations, room: Room) -> None:
        self._source, self._relations, self._room = source, relations, room
        self._kept: pa.Table | None = None

    @cached_property
    def columns(self) -> Sequence[AnswerColumn]:
        """Those that may be read."""
        return tuple(self._relations.columns(self._source))

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """Return which lines of it cannot be read."""
        told = self._relations.unread(self._source)
        return unread_findings(self._source.name, told)

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield its rows, from memory where all of these columns are kept."""
        kept = self._kept
        if kept is not None and set(names) <= set(kept.schema.names):
            yield from kept.select(names).to_batches()
            return
        before = () if kept is None else kept.schema.names
        wanted = list(dict.fromkeys([*before, *names]))
        read: list[pa.RecordBatch] = []
        left = self._room.left + (0 if kept is None else kept.nbytes)
        for batch in self._relations.rows(self._source, wanted):
            yield batch
            left -= batch.nbytes
            if left > 0 and set(wanted) <= set(batch.schema.names):
                read.append(batch.select(wanted))
            else:
                read = []
                left = 0
        if read:
            self._kept, self._room.left = pa.Table.from_batches(read), left


@dataclass(frozen=True, eq=False)
class _Part:
    """Some columns of a table; of one that has none of them the first, for its rows count."""

    whole: Readable
    names: frozenset[str]  # in small letters

    @property
    def columns(self) -> Sequence[AnswerColumn]:
        named = [one for one in self.whole.columns if one.name.lower() in self.names]
        return named or self.whole.columns[:1]

    def batches(self, names: Sequence[str]) -> Iterable[pa.RecordBatch]:
        return self.whole.batches(names)


class Family:
    """Like tables as one: columns of one name are one, and `member` says of which each row is."""

    def __init__(self, name: str, parts: Mapping[str, Existing], bounds: MakeBounds) -> None:
        self._name, self._parts, self._bounds = name, parts, bounds
        self._kept: pa.Table | None = None

    @cached_property
    def columns(self) -> Sequence[AnswerColumn]:
        """Those of any member, and the one that tells them apart, last."""
        named: dict[str, list[AnswerColumn]] = {}
        for part in self._parts.values():
            for one in part.columns:
                named.setdefault(one.name.lower(), []).append(one)
        found = [
            replace(some[0], type=common_type([one.type for one in some]) or some[0].type)
            for some in named.values()
        ]
        return (*found, AnswerColumn(self.member, "VARCHAR", "the table that a row is of"))

    @cached_property
    def member(self) -> str:
        """The column that tells members apart."""
        return member_of(
            {
                label: [(one.name, one.type) for one in part.columns]
                for label, part in self._parts.items()
            }
        )

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """Return in what its members differ, and which lines of them cannot be read."""
        shapes = {label: part.columns for label, part in self._parts.items()}
        unread = (one for part in self._parts.values() for one in part.findings)
        return (*unlike(self._name, shapes), *unread)

    def batches(self, names: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """Yield the rows of all members; columns that were read are kept."""
        before = () if self._kept is None else self._kept.schema.names
        if self._kept is None or not set(names) <= set(before):
            wanted = list(dict.fromkeys([*before, *names, self.member]))
            tables = Tables(self._bounds)
            wanted_of_parts = frozenset(one.lower() for one in wanted if one != self.member)
            labels = {f"part {at}": label for at, label in enumerate(self._parts)}
            for name, label in labels.items():
                tables.put(name, _Part(self._parts[label], wanted_of_parts))
            whole = united_in_parts(tables, [*labels], labels, self.member)
            self._kept = whole.select(wanted)
        return InHand(self._kept).batches(names)
