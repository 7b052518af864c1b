"""Columns of different tables that hold the same domain of values, such as states, and are no keys.

Columns are looked up by the hashes of their sampled cells and never compared all with all: hashes
are the same wherever a cell occurs, so two columns of one domain sample the same cells.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from pneuma_assets.core.relations.families import are_alike
from pneuma_assets.core.relations.infer_joins import STRONG_CELLS, STRONG_SHARE, Tables
from pneuma_assets.core.relations.join_column_facts import JoinColumn
from pneuma_assets.core.relations.join_graph import MOST_WAYS, JoinEdge, JoinKind

_LOOKED_UP, _LEAST_FOUND = 8, 2
"""Cells of a column, the lowest, that are looked up, and those that another one must have."""
_MOST_HOLDERS = 8
"""Columns that are looked at for one cell."""
_MOST_OFFERED = 5
"""Columns with which one is offered to be joined."""

_Names = Mapping[str, frozenset[str]]


def shared_domains(tables: Tables, keys: Sequence[JoinEdge]) -> list[JoinEdge]:
    """Return which columns of texts hold the cells of a column of another table, ordered.

    Each is offered with a few of its source: those that share the most, of these the columns of
    tables that most `keys` refer to. Tables that these join, or of nearly the same columns (parts
    and copies of one another), are left out.
    """
    used = Counter(edge.other for edge in keys)
    joined = {edge.tables for edge in keys}
    names = {i: frozenset(one.name.casefold() for one in some) for i, some in tables.items()}
    sources: dict[str, list[JoinColumn]] = defaultdict(list)
    for table_id in sorted(tables, key=lambda one: (-used[one], one)):
        sources[table_id.split("/", 1)[0]] += filter(_may_share, tables[table_id])
    found: dict[object, JoinEdge] = {}
    for columns in sources.values():
        holders = _holders(columns, names)
        for one in columns:
            near = Counter(other for cell in _lowest(one) for other in holders[cell])
            others = sorted(near, key=lambda other: (-used[other.table_id], other.table_id))
            edges = [
                edge
                for other in others
                if near[other] >= _LEAST_FOUND
                and not are_alike(names[one.table_id], names[other.table_id])
                and (edge := _edge(one, other)).score >= STRONG_SHARE
                and edge.tables not in joined
            ]
            best = sorted(edges, key=lambda edge: -edge.score)[:_MOST_OFFERED]
            found |= {(edge.tables, edge.equal): edge for edge in best}
    between: dict[tuple[str, str], list[JoinEdge]] = defaultdict(list)
    for edge in sorted(found.values(), key=lambda edge: edge.doubt):
        between[edge.tables] = [*between[edge.tables], edge][:MOST_WAYS]
    return sorted((edge for some in between.values() for edge in some), key=lambda edge: edge.on)


def _may_share(column: JoinColumn) -> bool:
    return column.kind == "text" and len(column.cells) >= STRONG_CELLS


def _lowest(column: JoinColumn) -> Sequence[int]:
    return [*map(int, column.cells[:_LOOKED_UP])]


def _holders(columns: Sequence[JoinColumn], names: _Names) -> dict[int, list[JoinColumn]]:
    """Return the first columns that have a cell; of tables of the same columns one for all."""
    first: dict[object, JoinColumn] = {}
    for one in columns:
        first.setdefault((names[one.table_id], one.name), one)
    found: dict[int, list[JoinColumn]] = defaultdict(list)
    for one in first.values():
        for cell in _lowest(one):
            found[cell] = [*found[cell], one][:_MOST_HOLDERS]
    return found


def _edge(one: JoinColumn, other: JoinColumn) -> JoinEdge:
    """Return both as a join: the one with more of its cells in the other refers to it."""
    pairs = (one, other), (other, one)
    shares = [(mine.share_in(theirs, STRONG_CELLS) or 0.0) for mine, theirs in pairs]
    column, key = pairs[shares[1] > shares[0]]
    on = column.table_id, (column.name,), key.table_id, (key.name,)
    return JoinEdge(*on, JoinKind.DOMAIN, round(max(shares), 3), max(shares))
