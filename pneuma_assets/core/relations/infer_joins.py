"""Finding foreign keys that nobody declared: by names, types and cells, never all pairs.

Octopus (section 4.3) takes the join graph as given; few lakes and warehouses declare one. A column
is compared with those keys alone that its name may mean, which a look-up by words tells: a key of
the same name, of the name and the key's table (`restaurant_id` and `restaurant.id`), or of what its
name ends with or speaks of (`cited_paper_id`, `from_airport`). Of several tables with a key of one
name, one is its home, whose entity it is: the others refer to that one. What a column's sampled
cells say against it counts more than its name. (Names and containment as signs of foreign keys:
Rostin et al., "A machine learning approach to foreign key discovery", WebDB 2009.)
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest, nsmallest

from pneuma_assets.core.relations.join_columns import (
    BARE,
    KEY_WORDS,
    JoinColumn,
    said_entities,
)
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import singular

RECIPE = "8"
"""Of how joins are inferred; another one infers all of them anew."""

LEAST_SHARE = 0.5
"""Of a column's different cells, the share that its key must have where cells can be compared; what
refers to a table that was cleaned up since may have more than that."""

LEAST_SCORE = 0.3

_SAME, _WITH_TABLE, _ENDING, _SPEAKING, _SAID = 1.0, 0.95, 0.85, 0.7, 0.65
"""What a name is worth: the key's own, with its table's, one that ends so, that speaks of it; and
what is said of a column."""
_UNTOLD = 0.5
"""The share that is assumed of cells that nobody has seen."""
_LONGEST_ENDING = 100
_SHORTEST_ENDING, _SHORTEST_ENTITY, _SHORTEST_ROOT = 5, 4, 3
_STRONG_CELLS, _STRONG_SHARE = 16, 0.9
"""Cells compared, and the share of them, from which on a key of another schema is believed."""
_MOST_COMPARED = 50
"""Keys with which a column is compared, those of the best names."""

_MOST_HOMES = 20
"""Keys of one name of which one is the home, and columns that it may be the home of."""
_PLAIN_WORDS = """
id code key no number name uuid guid nr num ref identifier index title year date type class value
count total description text note rank score status category month day time row percent amount label
level size comment state country city rowname rownum rownumber rowid rowno
"""
_PLAIN = frozenset(_PLAIN_WORDS.split())
"""Words that name a column of many tables and the key of none."""
_NAMELESS = re.compile(r"(?:unnamed|column|col|field|var|[a-z])?\d*")
"""What is written where a column has no name: by readers of files without a header, by formulas."""


Share = Callable[[JoinColumn, JoinColumn], float | None]
"""Tells which share of a column a key has where their sampled cells do not; None: nor can it."""


def infer_joins(
    tables: Mapping[str, Sequence[JoinColumn]], closer: Share = lambda *_: None
) -> list[JoinEdge]:
    """Return the foreign keys that columns seem to be, ordered; each column is one at most.

    Tables of one schema or folder are compared with each other; with those of another schema of
    their source only where many cells of a like name say so. Tables of the same columns, one a year
    say, are the parts of one: each says by itself what the others say of other rows.

    Args:
        tables: What is known of the columns of each table, by its id.
        closer: Looks closer at a column and a key of which the sampled cells say nothing.
    """
    sources: dict[str, list[JoinColumn]] = defaultdict(list)
    for table_id, columns in tables.items():
        sources[table_id.split("/", 1)[0]].extend(columns)
    found: list[JoinEdge] = []
    for columns in sources.values():
        scopes: dict[str, list[JoinColumn]] = defaultdict(list)
        for column in columns:
            scopes[_scope(column)].append(column)
        everywhere = _Keys(columns, closer) if len(scopes) > 1 else None
        for within in scopes.values():
            keys = _Keys(within, closer)
            found.extend(edge for column in within if (edge := keys.edge(column, everywhere)))
    alike = {table_id: sorted(one.word for one in some) for table_id, some in tables.items()}
    parts = {
        edge.on
        for edge in found
        if len(alike[edge.table]) > 1 and alike[edge.table] == alike[edge.other]
    }
    return sorted((one for one in found if one.on not in parts), key=lambda edge: edge.on)


@dataclass(frozen=True, slots=True)
class _Likely:
    """A key that a column may hold, and how sure that is."""

    key: JoinColumn
    score: float
    share: float | None


class _Keys:
    """The keys of some tables, by the words by which other columns may mean them."""

    def __init__(self, columns: Iterable[JoinColumn], closer: Share) -> None:
        self._closer = closer
        by_word: dict[str, list[JoinColumn]] = defaultdict(list)
        self._own: dict[JoinColumn, int] = {}
        self._of_table: dict[str, list[JoinColumn]] = defaultdict(list)
        self._by_entity: dict[str, list[JoinColumn]] = defaultdict(list)
        self._with_table: dict[str, list[JoinColumn]] = defaultdict(list)
        self._by_word: dict[str, list[JoinColumn]] = defaultdict(list)
        for column in columns:
            by_word[column.word].append(column)
            if column.is_key:
                self._add(column)
        for meant in (self._of_table, self._by_entity, self._with_table, self._by_word):
            _keep_first(meant)
        self._homes = {
            word: _home(some, self._own)
            for word, some in by_word.items()
            if word not in _PLAIN and not _NAMELESS.fullmatch(word)
        }

    def edge(self, column: JoinColumn, everywhere: "_Keys | None") -> JoinEdge | None:
        """Return what a column refers to, in its own schema or else in another one."""
        likely = self._best(column)
        if likely is None and everywhere is not None and self._homes.get(column.word) is None:
            likely = everywhere._best(column, elsewhere=True)
        if likely is None:
            return None
        return JoinEdge(
            column.table_id, (column.name,), likely.key.table_id, (likely.key.name,),
            JoinKind.INFERRED, round(likely.score, 3), likely.share,
        )  # fmt: skip

    def _add(self, key: JoinColumn) -> None:
        self._own[key] = own = _ownership(key)
        if own:
            self._by_word[key.word].append(key)
        if own >= 2:
            for word in {key.entity, key.entity + key.word} - {key.word}:
                self._with_table[word].append(key)
        if own >= 2 and len(key.entity) >= _SHORTEST_ENTITY:
            self._of_table[key.entity].append(key)
        if own >= 3 and len(key.entity) >= _SHORTEST_ENTITY:
            self._by_entity[key.entity].append(key)

    def _best(self, column: JoinColumn, *, elsewhere: bool = False) -> _Likely | None:
        best: _Likely | None = None
        for key, worth in self._meant(column):
            if key.table_id == column.table_id or (elsewhere and _scope(key) == _scope(column)):
                continue
            if not self._own[key] and _count_alike(column, key):
                continue
            share = column.share_in(key)
            if share is None:
                share = self._closer(column, key)
            if share is None and _clash(column, key):
                continue
            if share is not None and share < LEAST_SHARE:
                continue
            if elsewhere and not _is_strong(column, key, share):
                continue
            if worth == _SAID and (share is None or share < _STRONG_SHARE):
                continue
            score = worth * (0.5 + 0.5 * (_UNTOLD if share is None else share))
            if score >= LEAST_SCORE and (best is None or score > best.score):
                best = _Likely(key, score, share)
        return best

    def _meant(self, column: JoinColumn) -> list[tuple[JoinColumn, float]]:
        """Return the keys that a column's name may mean, with what the name is worth."""
        home = self._homes.get(column.word)
        if home is column:
            return []
        found = {
            key: _WITH_TABLE
            for key in self._with_table.get(column.word, ())
            if not (
                column.names_several and column.word == key.entity
            )  # `airports` counts them, as a rule
        }
        if home is not None and (home.declared or not column.names_no_key):
            found[home] = _SAME
        for key in self._ended_by(column.word):
            found.setdefault(key, _ENDING)
        if home is None and not column.names_no_key:
            for entity in _entities(name_parts(column.name)):
                for key in self._by_entity.get(entity, ()):
                    found.setdefault(key, _SPEAKING)
        if not found and not self._own.get(column):
            found = dict.fromkeys(self._said_of(column), _SAID)
        ordered = sorted(found.items(), key=lambda one: (-one[1], one[0].table_id, one[0].place))
        return ordered[:_MOST_COMPARED]

    def _said_of(self, column: JoinColumn) -> Sequence[JoinColumn]:
        """Return the keys of the first table that is named as what a column is the key or code of.

        A column whose own name says of what, `test_id`, is of nothing else.
        """
        root = column.root if column.root != column.word else ""
        for entity in said_entities(column.said):
            if keys := self._of_table.get(entity):
                return keys if entity.startswith(root) else ()
        return ()

    def _ended_by(self, word: str) -> Iterator[JoinColumn]:
        first = max(1, len(word) - _LONGEST_ENDING)
        for start in range(first, len(word) - _SHORTEST_ENDING + 1):
            ending = word[start:]
            if ending not in _PLAIN:
                yield from self._by_word.get(ending, ())


def _keep_first(meant: dict[str, list[JoinColumn]]) -> None:
    """Keep of the keys that each word means as many as a column is compared with, the first ones.

    Ten thousand tables that each have a key of one name would else be looked through by as many
    columns that end with it.
    """
    for word, keys in meant.items():
        meant[word] = nsmallest(_MOST_COMPARED, keys, lambda key: (key.table_id, key.place))


def _home(columns: Sequence[JoinColumn], own: Mapping[JoinColumn, int]) -> JoinColumn | None:
    """Return the key whose entity a name is, of the columns of that name; None where none is.

    A name that one table alone has is meant by no other. Of a name that very many have, those keys
    are looked at that are most plainly their tables' own.
    """
    if len(columns) < 2:
        return None

    def plainness(key: JoinColumn) -> tuple[float, ...]:
        return own[key], key.place == 0, key.different

    def rank(key: JoinColumn) -> tuple[float, ...]:
        shares = [
            share
            for column in columns[:_MOST_HOMES]
            if column is not key and (share := column.share_in(key)) is not None
        ]
        covered = round(sum(shares) / len(shares), 1) if shares else 0.0
        return own[key], covered, key.place == 0, key.different

    keys = sorted((column for column in columns if column in own), key=lambda key: key.table_id)
    return max(nlargest(_MOST_HOMES, keys, plainness), key=rank, default=None)


def _ownership(key: JoinColumn) -> int:
    """Return how plainly a key is that of its own table: 3 by its name, 0 where nothing says so."""
    root, entity = key.root, key.entity
    if key.word in BARE or root == entity or key.declared:
        return 3
    if root != key.word and len(root) <= _SHORTEST_ROOT and entity.startswith(root):
        return 2
    return int(len(root) > _SHORTEST_ROOT and entity.endswith(root))


def _count_alike(column: JoinColumn, key: JoinColumn) -> bool:
    """Tell whether both number the rows of their own tables, by a name that is the key of nothing.

    The same numbers are in any two tables that count their rows.
    """
    return key.root == key.word and all(one.is_key and one.is_whole_number for one in (column, key))


def _clash(column: JoinColumn, key: JoinColumn) -> bool:
    """Tell whether the types say that no cell can be in both.

    Where cells are known, these decide: `12` in a column of text may be the key of a number.
    """
    return None not in (column.kind, key.kind) and column.kind != key.kind


def _entities(parts: Sequence[str]) -> Iterator[str]:
    """Yield what a name speaks of: its words, and two or three of them as one.

    No plural: `num_airports` counts airports, and names none.
    """
    parts = [part if part.endswith("s") else singular(part) for part in parts]
    while parts and (parts[-1].isdigit() or parts[-1] in KEY_WORDS):
        parts.pop()
    return ("".join(parts[-length:]) for length in range(min(3, len(parts)), 0, -1))


def _is_strong(column: JoinColumn, key: JoinColumn, share: float | None) -> bool:
    enough = min(len(column.cells), len(key.cells)) >= _STRONG_CELLS
    return enough and share is not None and share >= _STRONG_SHARE


def _scope(column: JoinColumn) -> str:
    return column.table_id.rpartition("/")[0]
