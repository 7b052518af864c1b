"""Which tables a model is asked about at once, and which of their columns come first (section 5).

Tables that look the same are asked about once, and the statement is run on each (Algorithm 2). A
model sees all columns where they fit: to leave out those that the question does not name, as the
paper does, saves a capable model nothing, and loses dates, keys and addresses.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pneuma_assets.core.answers.like_tables import are_parts
from pneuma_assets.core.answers.results import AnswerColumn, AnswerSet, AnswerTable, Shown, called
from pneuma_assets.core.relations.join_graph import JoinEdge, On
from pneuma_assets.core.relations.part_names import told_apart
from pneuma_assets.core.relations.rank_groups import GroupResult
from pneuma_assets.core.terms.fields import cell_term, name_parts, plain_words

_MOST_WORDS = 60
_LONGEST = 5
KEYS = frozenset({"id", "key", "code", "no", "number", "uuid"})
DAYS = frozenset({"date", "datetime", "timestamp", "time", "day", "week", "month", "year"})


@dataclass(frozen=True, slots=True)
class Cluster:
    """Sets of tables that one statement may answer, each by itself.

    Attributes:
        sets: Best first; several only where each is one table, of the same columns.
        dialect: In which a statement is wanted.
    """

    sets: tuple[AnswerSet, ...]
    dialect: str

    @property
    def first(self) -> AnswerSet:
        """The set that a model is shown."""
        return self.sets[0]


def ranked_columns(
    question: str, table: AnswerTable, joined: frozenset[tuple[str, str]], *, values: bool
) -> list[AnswerColumn]:
    """Return a table's columns, those first that a statement is likely to need.

    That are those by which it is joined; those that the question names, or of which it says a
    cell; keys and days; then the others, each as they stand in the table.

    Args:
        question: As it was asked.
        table: It.
        joined: Ids of tables, and columns by which these are joined.
        values: Whether cells may decide: whoever sees the columns then learns of them.
    """
    held = table.holding(_terms(question)) if values else {}
    named = {column for columns in held.values() for column in columns}.union(table.matched)

    def place(column: AnswerColumn) -> int:
        words = {*map(str.lower, (*name_parts(column.name), *name_parts(column.type)))}
        if (table.table_id, column.name) in joined:
            return 0
        return 1 if column.name in named else 3 - (not words.isdisjoint(KEYS | DAYS))

    return sorted(table.columns, key=place)


def clusters(
    question: str, sets: Sequence[tuple[AnswerSet, str]], *, clustered: bool
) -> list[Cluster]:
    """Return sets of tables in their order, those as one of which one statement answers all.

    That are single tables of the same columns that the question does not tell apart: where it says
    imports, and there are exports of the same columns, these are another set.

    Args:
        question: As it was asked.
        sets: Best first, each with the dialect in which a statement about it is run.
        clustered: Whether tables of the same columns are one.
    """
    alike: dict[object, list[int]] = {}
    for number, (tables, dialect) in enumerate(sets):
        alone = clustered and len(tables.tables) == 1
        key = (dialect, _signature(tables.tables[0].columns)) if alone else number
        alike.setdefault(key, []).append(number)
    together = sorted(
        some
        for numbers in alike.values()
        for some in _together(question, [(n, sets[n][0].tables[0].table_id) for n in numbers])
    )
    return [Cluster(tuple(sets[one][0] for one in some), sets[some[0]][1]) for some in together]


def _together(question: str, tables: Sequence[tuple[int, str]]) -> list[list[int]]:
    """Return numbers of tables, those together that the question does not tell apart.

    Of parts of one table those are together that it names best, whichever these are.
    """
    said = told_apart(question, [table_id for _, table_id in tables])
    most = max(map(len, said))
    named = [one for (_, one), words in zip(tables, said, strict=True) if len(words) == most]
    parts = all(are_parts(named[0], one) for one in named)
    found: dict[object, list[int]] = {}
    for (number, _), words in zip(tables, said, strict=True):
        found.setdefault(None if parts and len(words) == most else words, []).append(number)
    return list(found.values())


def _signature(shown: Shown) -> tuple[tuple[str, str], ...]:
    return tuple((column.name.casefold(), column.type) for column in shown)


def _terms(question: str) -> frozenset[str]:
    """Return the runs of words of a question that may be cells."""
    words: Sequence[str] = plain_words(question)[:_MOST_WORDS]
    runs = (
        " ".join(words[start : start + length])
        for length in range(1, _LONGEST + 1)
        for start in range(len(words) - length + 1)
    )
    return frozenset(filter(None, map(cell_term, runs)))


_MOST_JOINED = 12
"""Tables of a set that a model is shown."""

Tables = tuple[Sequence[str], Sequence[JoinEdge]]
"""Ids of tables, and by which joins they are one set."""


def sets_to_ask(groups: Iterable[GroupResult], most: int) -> list[Tables]:
    """Return up to `most` sets of tables, best first, none of them within another.

    Sets that have a table in common are mostly about the same thing, and the right one may be the
    second or third, or hold one table each of those that answer. So these are one, up to
    `_MOST_JOINED` tables: the model leaves out what it does not need, and reads each once.

    Args:
        groups: Best first.
        most: Sets.
    """
    found: list[tuple[dict[str, None], dict[On, JoinEdge]]] = []
    for group in groups:
        joins = {edge.on: edge for edge in group.joins}
        for tables, known in found:
            if tables.keys() >= set(group.tables):
                break
            common = not tables.keys().isdisjoint(group.tables)
            if common and len(tables.keys() | set(group.tables)) <= _MOST_JOINED:
                tables.update(dict.fromkeys(group.tables))
                known.update(joins)
                break
        else:
            if len(found) < most:
                found.append((dict.fromkeys(group.tables), dict(joins)))
    return [(tuple(tables), tuple(joins.values())) for tables, joins in found]


def answer_sets(sets: Iterable[Tables], tables: Mapping[str, AnswerTable]) -> list[AnswerSet]:
    """Return sets with what is known of their tables; those with one that is not known are left."""
    return [
        AnswerSet(with_names([tables[one] for one in ids]), tuple(joins))
        for ids, joins in sets
        if all(one in tables for one in ids)
    ]


def with_matches(table: AnswerTable, matched: Mapping[str, float]) -> AnswerTable:
    """Return a table with the columns that a question names."""
    names = {column.name for column in table.columns}
    return replace(table, matched={n: score for n, score in matched.items() if n in names})


def with_names(tables: Sequence[AnswerTable]) -> tuple[AnswerTable, ...]:
    """Return tables with names of which no two are the same in any capitals."""
    taken: dict[str, tuple[str, str]] = {}
    found = []
    for table in tables:
        read, number = table.read, 1
        name = read.name
        while name.casefold() in taken:
            number += 1
            name = f"{read.name}_{number}"
        if read.place in taken.values():  # of two databases: they are read, and called anew
            found.append(replace(table, read=replace(read, name=name, schema="")))
        else:
            found.append(table if number == 1 else called(table, name, read.schema))
        taken[name.casefold()] = found[-1].read.place
    return tuple(found)
