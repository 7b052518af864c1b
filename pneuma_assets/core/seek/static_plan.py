"""A first state without a model: the fewest tables that have what was asked for, joined and pruned.

The static pipeline of Pneuma-Seeker (section 3.5). A person edits what it proposes; what it takes
for granted stands in the assumptions, and what it does not know in the questions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Any

from rapidfuzz import fuzz

from pneuma_assets.core.answers.prune import DAYS, KEYS
from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.relations.families import name_of_family
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.relations.rank_groups import GroupResult
from pneuma_assets.core.seek.asked import Cell, Need, named_best, read_need, words_of
from pneuma_assets.core.seek.operators.sql_text import kind_of, quoted
from pneuma_assets.core.seek.results import BOUNDS, Relations
from pneuma_assets.core.seek.sources import Family, Room, members_of, readable
from pneuma_assets.core.seek.state import (
    Assumption,
    Origin,
    Query,
    Source,
    State,
    Step,
    TargetColumn,
    TargetTable,
)
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import singular

_MOST_COLUMNS, _MOST_MEMBERS, _MOST_JOINS = 40, 1_000, 10
_ALIKE = 80.0
"""Likeness of the names of a column that is wanted and one that is it, of 100."""
_UNJOINED = 3
"""Tables that may be added to join one that nothing known joins."""
_MOST_AGGREGATED = 10
_UNITS = ("year", "quarter", "month", "week", "day")
"""Of a date; functions of SQL are called so, too."""


@dataclass(slots=True)
class _Plan:
    """Of each source the table, its columns, and of a family its members; and what is said."""

    need: Need
    joins: Sequence[JoinEdge] = ()
    sources: dict[str, Source] = field(default_factory=dict)
    columns: dict[str, Sequence[AnswerColumn]] = field(default_factory=dict)
    members: dict[str, frozenset[str]] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def tells_members(self, source: str, column: AnswerColumn) -> bool:
        """Tell whether a column says of which member of a family a row is."""
        return source in self.members and column is self.columns[source][-1]


def propose(
    need: str,
    groups: Sequence[GroupResult],
    relations: Relations,
    *,
    state: State | None = None,
    families: Mapping[str, Sequence[str]] | None = None,
) -> State:
    """Return a state with a table made of the first group of tables that were found.

    Args:
        need: In plain language; of a table without columns, it tells which are meant.
        groups: Sets of tables that may answer, best first, with the joins between them.
        relations: The tables that exist.
        state: What is there already: its first table without steps is the one that is made.
        families: Of a table the ids of all members of its family, itself included; they are read
            as one table.

    Raises:
        PneumaError: A table of the group is not there, or may not be read.
    """
    state = state or State()
    if not groups:
        text = "No table was found; say it in other words, or give a file."
        return state.model_copy(update={"questions": (*state.questions, text)})
    given = next((one for one in state.tables if not one.steps), None)
    named = [one.name for one in given.columns] if given else []
    read = read_need("; ".join([need, *named]))
    chosen_group = (given and _of_sources(given, state, groups[0], relations)) or _fewest(
        read, groups, relations
    )
    plan = _planned(chosen_group, relations, state, families or {}, read)
    own = TargetTable(name=_free("result", [*_names(state), *plan.sources]), description=need[:999])
    target = given or own
    base, joins = _path(plan)
    joined = [base, *(one["other"] for one in joins)]
    query = Query(name="rows", sql=f"SELECT * FROM {target.name}", description="what was found")
    wanted = target.columns
    if not wanted:
        wanted, query = _asked(plan, joined, joins, query)
    chosen: dict[str, Origin] = {}
    for one in wanted:
        if origin := _origin(one, plan, joined):
            chosen[one.name] = origin
        else:
            plan.questions.append(f"Which column is {one.name}?")
    columns = tuple(
        one.model_copy(update={"origins": (chosen[one.name],)}) if one.name in chosen else one
        for one in wanted
    )
    steps = (_step(target.name, base, joins, chosen),) if chosen else ()
    made = target.model_copy(update={"columns": columns, "steps": steps})
    known = _names(state)
    said = {one.text for one in state.assumptions}
    assumed = [Assumption(text=text[:999]) for text in plan.assumptions if text[:999] not in said]
    update = {
        "sources": (*state.sources, *(s for n, s in plan.sources.items() if n not in known)),
        "tables": (*(one for one in state.tables if one is not target), made),
        "queries": state.queries or (query,),
        "assumptions": (*state.assumptions, *assumed),
        "questions": tuple(dict.fromkeys((*state.questions, *(t[:999] for t in plan.questions)))),
    }
    return state.model_copy(update=update)


def _of_sources(
    given: TargetTable, state: State, group: GroupResult, relations: Relations
) -> GroupResult | None:
    """Return the sources that a state has, where they have all columns of a table without steps."""
    names: dict[str, set[str]] = {
        one.table_ids[0]: {_spelled(column.name) for column in relations.columns(one)}
        for one in state.sources
        if one.table_ids
    }
    wanted = {_spelled(one.name) for one in given.columns}
    used = tuple(i for i, own in names.items() if own & wanted)
    has_all = wanted and wanted <= set[str]().union(*names.values())
    return replace(group, tables=used) if has_all else None


def _fewest(need: Need, groups: Sequence[GroupResult], relations: Relations) -> GroupResult:
    """Return the fewest tables that have what the best set of tables has, of it or one of another.

    What they have is told by names, or by descriptions where another table of the set has the name.
    """
    first = groups[0]
    joins = tuple(dict.fromkeys(one for group in groups for one in group.joins))
    names: dict[str, set[str]] = {}
    said: dict[str, set[str]] = {}
    for table_id in dict.fromkeys(one for group in groups for one in group.tables):
        try:
            columns = relations.columns(Source(name="one", table_ids=(table_id,)))
        except PneumaError:
            if table_id in first.tables:
                raise
            continue
        cells = [Cell(table_id, one, need) for one in columns]
        own = words_of(_plain((table_id,)))
        names[table_id] = {*need.words} & own.union(*(one.named for one in cells))
        said[table_id] = names[table_id].union(*(one.said for one in cells))
    wanted = set[str]().union(*(names[one] for one in first.tables))
    parts = [some for size in range(len(first.tables), 0, -1)
             for some in combinations(first.tables, size)]  # fmt: skip
    parts += [(one,) for one in names]
    told = {some: set[str]().union(*(said[one] for one in some)) for some in parts}
    best = min(
        (some for some in told if wanted <= told[some]),
        key=lambda some: (len(some) + _UNJOINED * _apart(some, joins), -len(told[some])),
    )
    return replace(first, tables=best, joins=joins)


def _apart(tables: Sequence[str], joins: Sequence[JoinEdge]) -> int:
    """Return how many tables cannot be reached from the first by known joins between them."""
    reached = {*tables[:1]}
    for one in len(tables) * [
        edge for edge in joins if edge.is_key and {*edge.tables} <= {*tables}
    ]:
        reached |= {*one.tables} if reached & {*one.tables} else set()
    return len(tables) - len(reached)


def _planned(
    group: GroupResult,
    relations: Relations,
    state: State,
    families: Mapping[str, Sequence[str]],
    need: Need,
) -> _Plan:
    plan = _Plan(need, group.joins)
    for table_id in group.tables:
        ids = tuple(dict.fromkeys(families.get(table_id) or (table_id,)))
        if any(table_id in one.table_ids for one in plan.sources.values()):
            continue  # another member of a family that is read already
        if len(ids) > _MOST_MEMBERS:
            plan.assumptions.append(f"Of {len(ids):,} tables like {table_id} it alone is read.")
            ids = (table_id,)
        name = _free(_plain(ids), [*_names(state), *plan.sources])
        known = next((one for one in state.sources if table_id in one.table_ids), None)
        source = known or Source(name=name, table_ids=ids)
        table = readable(source, relations, BOUNDS, Room(0))
        plan.sources[source.name], plan.columns[source.name] = source, table.columns
        if isinstance(table, Family):
            plan.members[source.name] = frozenset(members_of(source))
            plan.assumptions.append(
                f"{len(ids)} tables {name_of_family(ids)} are read as one, {source.name}; "
                f"its column {table.member} says of which a row is."
            )
    return plan


def _names(state: State) -> list[str]:
    return [*(one.name for one in state.tables), *(one.name for one in state.sources)]


def _plain(table_ids: Sequence[str]) -> str:
    """Return a name for steps to call a table by: the last part of its id, without an ending."""
    whole = name_of_family(table_ids) if len(table_ids) > 1 else table_ids[0]
    last = whole.rpartition("/")[2]
    last = re.sub(r"\.[A-Za-z]{1,8}$", "", last if last.strip("*") else whole)
    name = re.sub(r"[^A-Za-z0-9]+", "_", last).strip("_")[:50]
    return f"t_{name}" if not name or name[0].isdigit() else name


def _free(name: str, taken: Iterable[str]) -> str:
    folded = {one.casefold() for one in taken}
    names = (name if n < 2 else f"{name}_{n}" for n in range(1, len(folded) + 3))
    return next(one for one in names if one.casefold() not in folded)


def _path(plan: _Plan) -> tuple[str, list[dict[str, Any]]]:
    """Return the table that others are joined to, and how; one that refers stands before others.

    So rows of the table with the most detail are kept as they are, and none is repeated. Where no
    join is known, columns of the same name that may be a key are proposed, and asked about.
    """
    by_id = {one: name for name, source in plan.sources.items() for one in source.table_ids}
    edges = [
        (by_id[one.table], by_id[one.other], one)
        for one in plan.joins
        if one.table in by_id and one.other in by_id and by_id[one.table] != by_id[one.other]
        if one.is_key  # a shared domain pairs each row of one table with many of the other
    ]
    referred = {other for _, other, _ in edges}
    base = next((one for one, *_ in edges if one not in referred), next(iter(plan.sources)))
    placed, joins = [base], list[dict[str, Any]]()
    while len(joins) < _MOST_JOINS:
        edge = next((one for one in edges if (one[0] in placed) != (one[1] in placed)), None)
        edge = edge or next(_shared(placed, plan), None)
        if edge is None:
            break
        refers = edge[0] in placed
        table, other, join = edge if refers else (edge[1], edge[0], edge[2].turned())
        is_one = refers and join.is_key
        joins.append({**_on(table, other, join, plan), "expect": "one" if is_one else "any"})
        placed.append(other)
    plan.questions += [
        f"How does {name} go together with {base}? No join is known; it is left out."
        for name in plan.sources
        if name not in placed
    ]
    return base, joins


def _shared(placed: Sequence[str], plan: _Plan) -> Iterator[tuple[str, str, JoinEdge]]:
    """Yield keys and dates of one name by which other tables may go with those placed.

    Those first that the need names. What is called `id` in both numbers the rows of each.
    """
    by_name = {
        source: {_spelled(one.name): one for one in some if not plan.tells_members(source, one)}
        for source, some in plan.columns.items()
    }
    found = [
        (not words_of(name).issubset(plan.need.words), table, other, mine, by_name[other][name])
        for table, other in product(placed, plan.sources)
        if other not in placed
        for name, mine in by_name[table].items()
        if name in by_name[other] and name != "id"
    ]
    for is_silent, table, other, mine, theirs in sorted(found, key=lambda one: one[0]):
        is_text = {kind_of(mine.type), kind_of(theirs.type)} == {"text"}
        if _is_key(mine) or (is_text and not is_silent):
            on = (table, (mine.name,), other, (theirs.name,))
            yield table, other, JoinEdge(*on, JoinKind.DOMAIN, 0.0)


def _on(table: str, other: str, join: JoinEdge, plan: _Plan) -> dict[str, Any]:
    """Return how two tables are joined; of two families the like members."""
    mine, theirs = list(join.columns), list(join.other_columns)
    pairs = zip(mine, theirs, strict=True)
    said = " and ".join(f"{table}.{one} is {other}.{same}" for one, same in pairs)
    if not join.is_key:
        plan.assumptions.append(f"{said}: they are called the same, nobody says so.")
        plan.questions.append(
            f"Do rows of {table} and {other} go together by {mine[0]}? Where one has several rows "
            "of it, those of the other are repeated."
        )
    elif join.is_guess:
        plan.assumptions.append(f"{said}: their names and cells say so, nobody else does.")
    if plan.members.get(table, frozenset()) & plan.members.get(other, frozenset()):
        mine.append(plan.columns[table][-1].name)
        theirs.append(plan.columns[other][-1].name)
    return {"table": table, "columns": mine, "other": other, "other_columns": theirs}


def _step(
    name: str, base: str, joins: Sequence[Mapping[str, Any]], chosen: Mapping[str, Origin]
) -> Step:
    if joins:
        columns = {one: f"{origin.source}.{origin.columns[0]}" for one, origin in chosen.items()}
        reads = (base, *(one["other"] for one in joins))
        options = {"joins": [dict(one) for one in joins], "columns": columns}
        return Step(operator="join", reads=reads, makes=name, options=options)
    cells = ", ".join(f"{quoted(at.columns[0])} AS {quoted(one)}" for one, at in chosen.items())
    return Step(operator="sql", reads=(base,), makes=name, code=f"SELECT {cells} FROM {base}")


def _asked(
    plan: _Plan, joined: Sequence[str], joins: Sequence[Mapping[str, Any]], rows: Query
) -> tuple[tuple[TargetColumn, ...], Query]:
    """Return the columns that a need asks for, and what is aggregated of them, or else `rows`."""
    need, same = plan.need, {(on["other"], one) for on in joins for one in on["other_columns"]}
    cells = [
        Cell(source, one, need, plan.tells_members(source, one))
        for source in joined
        for one in plan.columns[source]
        if (source, one.name) not in same  # it is in the table that is joined to, too
    ]
    chosen = named_best(need.words, cells)
    tables = frozenset[str]().union(*map(words_of, joined))
    for part in (*(words for _, words in need.aggregates), need.groups, need.words):
        while missing := set(part) - tables.union(*(one.said for one in chosen)):
            most = max((len(one.said & missing) for one in cells), default=0)
            if not most or (most == 1 and any(one.named & {*part} for one in chosen)):
                break  # one word of a description, beside columns called so, is the subject's
            chosen += [one for one in cells if len(one.said & missing) == most][:1]
    groups = [*_groups(need, cells)][:_MOST_AGGREGATED]
    plan.questions += _not_done(need, groups)
    by = [one for one, _ in groups]
    aggregates = [*dict.fromkeys(_aggregates(plan, cells, chosen, by))][:_MOST_AGGREGATED]
    used = [*by, *(one for _, one in aggregates if one)]
    if used and aggregates:
        chosen = [one for one in chosen if one.share == 1]  # what rows are filtered by
    if len(chosen) < 2 and not aggregates:
        chosen = cells  # one word tells the subject, and not what is asked for of it
    elif ("count", None) in aggregates or not any(_tells(one, plan) for one in (*used, *chosen)):
        chosen += sorted(cells, key=lambda one: _tells(one, plan), reverse=True)[:1]
    kept = [one for one in cells if one in chosen or plan.tells_members(one.source, one.column)]
    summed = [one for function, one in aggregates if function in {"avg", "sum", "median"}]
    names: dict[Cell, str] = {}
    columns = []
    for one in [*dict.fromkeys((*used, *kept))][:_MOST_COLUMNS]:
        name, kind = one.column.name, _type(one.column.type)
        is_taken = name.casefold() in map(str.casefold, names.values())
        names[one] = _free(f"{one.source}_{name}", names.values()) if is_taken else name
        kind = "number" if kind == "text" and one in summed else kind
        origins = (Origin(source=one.source, columns=(name,)),)
        said = one.column.said[:999]
        columns.append(TargetColumn(name=names[one], type=kind, description=said, origins=origins))
    if aggregates:
        rows = rows.model_copy(update={"sql": _summary(rows.sql, groups, aggregates, names)})
    return tuple(columns), rows


def _not_done(need: Need, groups: Sequence[object]) -> Iterator[str]:
    """Yield questions about what a need says and no query does."""
    if need.groups and not groups:
        yield f"Which column is {' '.join(need.groups)}, to group by?"
    if need.aside:
        yield f"Which rows count? None is left out for: {' '.join(need.aside)}."


def _is_key(column: AnswerColumn) -> bool:
    """Tell whether a column numbers or dates rows, by its name or type."""
    is_named = not (KEYS | DAYS).isdisjoint(words_of(column.name))
    return is_named or kind_of(column.type) in {"DATE", "TIMESTAMP"}


def _tells(cell: Cell, plan: _Plan) -> int:
    """Return how likely a column says what a row is: one that others refer to, a key, no number."""
    ids = plan.sources[cell.source].table_ids
    if any(one.other in ids and cell.column.name in one.other_columns for one in plan.joins):
        return 3
    return 2 if _is_key(cell.column) else int(kind_of(cell.column.type) != "number")


def _groups(need: Need, cells: Sequence[Cell]) -> Iterator[tuple[Cell, str]]:
    """Yield what rows are grouped by: a column, or a unit of a date that no column is called."""
    named = named_best(need.groups, cells)
    units = [] if any({*_UNITS} & one.named for one in named) else need.groups
    unit = next((one for one in _UNITS if one in units), "")
    dates = [one for one in cells if unit and kind_of(one.column.type) in {"DATE", "TIMESTAMP"}]
    dates = [one for one in dates if one in named][:1] or dates[:1]
    members = [one for one in cells if one.is_member and unit and not dates]
    yield from ((one, unit) for one in dates)
    yield from ((one, "") for one in members[:1])
    yield from ((one, "") for one in named if one not in dates)


def _aggregates(
    plan: _Plan, cells: Sequence[Cell], chosen: Sequence[Cell], groups: Sequence[Cell]
) -> Iterator[tuple[str, Cell | None]]:
    """Yield functions of SQL, each with what it is of; None: of rows."""
    for function, words in plan.need.aggregates:
        near = named_best(words, cells) or [one for one in chosen if one.said.intersection(words)]
        near = near or named_best(plan.need.statistics, cells)
        near = [one for one in near if one not in groups]
        near = [one for one in near if not _is_key(one.column)] or near
        most = max((one.share for one in near), default=0.0)
        numbers = [one for one in near if kind_of(one.column.type) == "number"]
        texts = [one for one in near if kind_of(one.column.type) == "text"][:1]
        if (
            function == "count"
        ):  # the number of migrants is a sum where a column has numbers of them
            whole = [one for one in numbers if one.share == 1]
            plan.assumptions += [f"{one.column.name} of all rows is added up." for one in whole]
            yield from ((("sum", one) for one in whole) if whole else [("count", None)])
        elif numbers or texts:
            yield from ((function, one) for one in numbers or texts if 2 * one.share >= most)
        else:
            plan.questions.append(f"Which column is {function} of {' '.join(words)} about?")


def _summary(
    rows: str,
    groups: Sequence[tuple[Cell, str]],
    aggregates: Sequence[tuple[str, Cell | None]],
    names: Mapping[Cell, str],
) -> str:
    """Return a query of aggregates of T; without groups, that of the row with the most or least."""
    function, cell = aggregates[0]
    if not groups and len(aggregates) == 1 and function in {"max", "min"} and cell:
        order = f"{quoted(names[cell])} {'DESC' if function == 'max' else 'ASC'} NULLS LAST"
        return f"{rows} ORDER BY {order} LIMIT 1"
    by = [f"{u}({quoted(names[c])}) AS {u}" if u else quoted(names[c]) for c, u in groups]
    numbers = ", ".join(str(at) for at, _ in enumerate(by, 1))
    for function, cell in aggregates:
        of, said = (quoted(names[cell]), names[cell]) if cell else ("*", "rows")
        by.append(f"{function}({of}) AS {quoted(f'{function} of {said}')}")
    grouped = f" GROUP BY {numbers} ORDER BY {numbers}" if numbers else ""
    return rows.replace("*", ", ".join(by), 1) + grouped


def _spelled(name: str) -> str:
    return " ".join(map(singular, name_parts(name)))


def _type(kind: str) -> Any:
    if re.match("U?(TINY|SMALL|BIG|HUGE)?INT", kind.upper()):
        return "integer"
    known = {"number": "number", "DATE": "date", "TIMESTAMP": "timestamp", "BOOLEAN": "boolean"}
    return known.get(kind_of(kind), "text")


def _origin(wanted: TargetColumn, plan: _Plan, joined: Sequence[str]) -> Origin | None:
    """Return the source and column that a target column is, as said or as its name says."""
    said = [one for one in wanted.origins if one.source in joined and one.columns]
    name = _spelled(wanted.name)
    scored = [
        (fuzz.token_sort_ratio(name, _spelled(own)), -at, one.name)
        for at, source in enumerate(joined)
        for one in plan.columns[source]
        for own in (one.name, f"{source} {one.name}")
    ]
    score, at, column = max(scored, default=(0.0, 0, ""))
    found = Origin(source=joined[-at], columns=(column,)) if score >= _ALIKE else None
    return said[0] if said else found
