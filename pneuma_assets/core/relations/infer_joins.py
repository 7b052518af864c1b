"""Finding foreign keys that nobody declared: by names, types and cells, never all pairs.

Octopus (section 4.3) takes the join graph as given; few lakes and warehouses declare one. A column
is compared with those keys alone that its name may mean, which a look-up by words tells. What
speaks for a pair and against it is added up by a logistic regression, and each column refers to the
best key at most. (Names and containment as signs of foreign keys: Rostin et al., "A machine
learning approach to foreign key discovery", WebDB 2009.)
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pneuma_assets.core.relations.join_column_facts import JoinColumn
from pneuma_assets.core.relations.join_features import (
    OWN,
    WEIGHTS,
    Features,
    features,
    has_role,
    related,
    standing,
)
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.relations.join_names import NamedColumn, SchemaNames

RECIPE = "13"
"""Of how joins are inferred; another one infers all of them anew."""

LEAST_SHARE = 0.5
"""Of a column's different cells, the share that its key must have where cells can be compared; what
refers to a table that was cleaned up since may have more than that."""

LEAST_SCORE = 0.5

STRONG_CELLS, STRONG_SHARE = 16, 0.9
"""Cells compared, and the share of them, from which on cells alone are believed."""
_MOST_MEANT, _MOST_COMPARED = 5, 20
"""Keys that a word means, and with which a column is compared, those of the best names."""
_MOST_KEYS = 5
"""Of one table, those of the best names."""

Share = Callable[[JoinColumn, JoinColumn], float | None]
"""Tells which share of a column a key has where their sampled cells do not; None: nor can it."""

Tables = Mapping[str, Sequence[JoinColumn]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A key that a column may refer to, what speaks for it, and the share of cells that it has."""

    column: JoinColumn
    key: JoinColumn
    features: Features
    share: float | None

    def score(self, weights: Mapping[str, float]) -> float:
        """Return how likely it is, from 0 to 1."""
        total = sum(weights.get(name, 0.0) * value for name, value in self.features.items())
        return 1 / (1 + math.exp(-total))

    def edge(self, score: float) -> JoinEdge:
        """Return it as a join."""
        return JoinEdge(
            self.column.table_id, (self.column.name,), self.key.table_id, (self.key.name,),
            JoinKind.INFERRED, round(score, 3), self.share,
        )  # fmt: skip


def infer_joins(tables: Tables, closer: Share = lambda *_: None) -> list[JoinEdge]:
    """Return the foreign keys that columns of tables seem to be, ordered; each is one at most.

    Tables of one schema or folder are compared with each other; with those of another schema of
    their source only where many cells of a like name say so. Tables of the same columns, one a year
    say, are the parts of one: each says by itself what the others say of other rows. `closer` looks
    at a column and a key of which the sampled cells say nothing.
    """
    return choose(candidates(tables, closer), WEIGHTS)


def choose(found: Iterable[Sequence[Candidate]], weights: Mapping[str, float]) -> list[JoinEdge]:
    """Return the joins of each column's best key, ordered; where two are each other's, one."""
    best: dict[JoinColumn, tuple[float, Candidate]] = {}
    for some in found:
        score, one = max(((c.score(weights), c) for c in some), key=lambda pair: pair[0])
        if score >= LEAST_SCORE:
            best[one.column] = score, one
    edges = []
    for score, one in best.values():
        theirs, turned = best.get(one.key, (0.0, one))
        is_surer = (theirs, one.key.table_id) > (score, one.column.table_id)
        if not (turned.key is one.column and is_surer):
            edges.append(one.edge(score))
    return sorted(edges, key=lambda edge: edge.on)


def candidates(tables: Tables, closer: Share = lambda *_: None) -> Iterator[list[Candidate]]:
    """Yield the keys that a column may refer to, of each column that may refer to any."""
    sources: dict[str, dict[str, dict[str, Sequence[JoinColumn]]]] = defaultdict(dict)
    for table_id, columns in tables.items():
        schemas = sources[table_id.split("/", 1)[0]]
        schemas.setdefault(table_id.rpartition("/")[0], {})[table_id] = columns
    alike = {table_id: sorted(c.name.lower() for c in some) for table_id, some in tables.items()}
    for schemas in sources.values():
        named = [list(SchemaNames(some).columns()) for some in schemas.values()]
        everywhere = _Keys([one for some in named for one in some], closer) if named[1:] else None
        for some in named:
            keys = _Keys(some, closer)
            for column in some:
                found = keys.candidates(column)
                is_known = len(column.column.cells) >= STRONG_CELLS and column.own <= OWN
                if not found and everywhere and is_known:
                    found = [one for one in everywhere.candidates(column) if _is_strong(one)]
                if found := [one for one in found if not _are_parts(one, alike)]:
                    yield found


def _are_parts(one: Candidate, alike: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether both tables have the same columns."""
    mine, theirs = one.column.table_id, one.key.table_id
    return mine != theirs and len(alike[mine]) > 1 and alike[mine] == alike[theirs]


def _is_strong(one: Candidate) -> bool:
    enough = min(len(one.column.cells), len(one.key.cells)) >= STRONG_CELLS
    return enough and one.share is not None and one.share >= STRONG_SHARE


def _may_be(column: NamedColumn, key: NamedColumn) -> bool:
    """Tell whether a column may refer to a key at all.

    What no key is refers to declared keys of its name alone; and two columns that only number or
    name the rows of their own tables speak of nothing else.
    """
    if not column.refers:
        return key.column.declared and key.name == column.name and key is not column
    number_rows = column.column.is_unique and key.column.is_unique and not key.own
    return key is not column and not (number_rows and column.kind in {None, "name"})


def _order(key: NamedColumn) -> tuple[int, int, str]:
    return -key.own, key.column.place, key.column.table_id


def _meanings(key: NamedColumn, *, names_table: bool) -> Iterator[str]:
    """Yield what other columns may call a key: by its own name, or as its table is called."""
    yield from {f"={key.name}", "=" + "".join(key.words)}
    if names_table:
        yield from {"".join(words) for words in (key.entity, *key.stems)} - {""}


class _Keys:
    """The keys of some tables, by the words by which other columns may mean them."""

    def __init__(self, columns: Iterable[NamedColumn], closer: Share) -> None:
        self._closer = closer
        self._home: dict[str, tuple[float, ...]] = {}
        """How plainly the plainest of all keys of a name is referred to."""
        self._of_table: dict[str, list[NamedColumn]] = defaultdict(list)
        meaning: dict[str, list[NamedColumn]] = defaultdict(list)
        for one in columns:
            if one.is_key:
                self._of_table[one.column.table_id].append(one)
                self._home[one.name] = max(standing(one), self._home.get(one.name, ()))
        for table_id, some in self._of_table.items():
            keys = self._of_table[table_id] = sorted(some, key=_order)[:_MOST_KEYS]
            for key in keys:
                is_named = key.own > 0 or key.kind not in {None, "name"}
                stands = is_named and (key is keys[0] or key.own >= OWN)
                for word in _meanings(key, names_table=stands):
                    meaning[word].append(key)
        self._meaning = {
            word: sorted(keys, key=_order)[:_MOST_MEANT] for word, keys in meaning.items()
        }

    def candidates(self, column: NamedColumn) -> list[Candidate]:
        """Return the keys that a column may refer to."""
        keys = [key for key in self._meant(column) if _may_be(column, key)][:_MOST_COMPARED]
        found = []
        for key in keys:
            relation = related(column, key)
            share = self._share(column, key) if relation else None
            if not relation or (share is not None and share < LEAST_SHARE):
                continue
            is_home = standing(key) == self._home.get(column.name)
            of_pair = features(column, key, share, relation, is_home=is_home)
            found.append(Candidate(column.column, key.column, of_pair, share))
        return found

    def _share(self, column: NamedColumn, key: NamedColumn) -> float | None:
        """Return the share of a column's cells that a key has; 0 where its type says so."""
        share = column.column.share_in(key.column)
        if share is None:
            share = self._closer(column.column, key.column)
        kinds = column.column.kind, key.column.kind
        return 0.0 if share is None and None not in kinds and kinds[0] != kinds[1] else share

    def _meant(self, column: NamedColumn) -> list[NamedColumn]:
        found = {key: None for word in column.runs for key in self._meaning.get(word, ())}
        if has_role(column):
            found |= dict.fromkeys(self._of_table.get(column.column.table_id, ())[:1])
        return list(found)
