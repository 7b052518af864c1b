"""A first state without a model: the tables that were found, joined as is known, pruned to T.

The static pipeline of Pneuma-Seeker (section 3.5). A person edits what it proposes; what it takes
for granted stands in the assumptions, and what it does not know in the questions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.relations.families import name_of_family
from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_assets.core.search.groups import GroupResult
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
from pneuma_assets.core.text.analysis import ENGLISH_STOP_WORDS

_MOST_COLUMNS = 40
_MOST_MEMBERS = 1_000
_MOST_JOINS = 10
_ALIKE = 80.0


@dataclass(slots=True)
class _Plan:
    """What is known of the tables of a group, and what is said of them."""

    sources: dict[str, Source]
    columns: dict[str, Sequence[AnswerColumn]] = field(default_factory=dict)
    labels: dict[str, frozenset[str]] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)


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
        return _with_question(state, "No table was found; say it in other words, or give a file.")
    plan = _planned(groups[0], relations, state, families or {})
    target = next(
        (one for one in state.tables if not one.steps),
        TargetTable(
            name=_free("result", [*_names(state), *plan.sources]), description=need[:1_000]
        ),
    )
    base, joins = _path(groups[0], plan)
    joined = [base, *(str(one["other"]) for one in joins)]
    columns = target.columns or tuple(_columns_meant(need, plan, joined))
    found = {one.name: _origin(one, plan, joined) for one in columns}
    plan.questions += [f"Which column is {name}?" for name, at in found.items() if at is None]
    chosen = {name: at for name, at in found.items() if at is not None}
    made = target.model_copy(
        update={
            "columns": tuple(_with_origin(one, chosen.get(one.name)) for one in columns),
            "steps": (_step(target.name, base, joins, chosen),) if chosen else (),
        }
    )
    return _completed(state, plan, target, made)


def _completed(state: State, plan: _Plan, target: TargetTable, made: TargetTable) -> State:
    others = tuple(one for one in state.tables if one is not target)
    known = {one.name for one in state.sources}
    new = tuple(one for one in plan.sources.values() if one.name not in known)
    query = Query(name="rows", sql=f"SELECT * FROM {made.name}", description="what was found")
    return state.model_copy(
        update={
            "sources": (*state.sources, *new),
            "tables": (*others, made),
            "queries": state.queries or (query,),
            "assumptions": (
                *state.assumptions,
                *(Assumption(text=one[:1_000]) for one in plan.assumptions),
            ),
            "questions": (*state.questions, *(one[:1_000] for one in plan.questions)),
        }
    )


def _with_question(state: State, text: str) -> State:
    return state.model_copy(update={"questions": (*state.questions, text)})


def _planned(
    group: GroupResult,
    relations: Relations,
    state: State,
    families: Mapping[str, Sequence[str]],
) -> _Plan:
    plan = _Plan({})
    taken = _names(state)
    for table_id in group.tables:
        ids = tuple(dict.fromkeys(families.get(table_id) or (table_id,)))
        if any(table_id in one.table_ids for one in plan.sources.values()):
            continue  # another member of a family that is read already
        if len(ids) > _MOST_MEMBERS:
            plan.assumptions.append(f"Of {len(ids):,} tables like {table_id} it alone is read.")
            ids = (table_id,)
        known = next((one for one in state.sources if table_id in one.table_ids), None)
        source = known or Source(name=_free(_plain(ids), taken), table_ids=ids)
        taken.append(source.name)
        plan.sources[source.name] = source
        table = readable(source, relations, BOUNDS, Room(0))
        plan.columns[source.name] = table.columns
        if isinstance(table, Family):
            plan.labels[source.name] = frozenset(members_of(source))
            plan.assumptions.append(
                f"{len(ids)} tables {name_of_family(ids)} are read as one, {source.name}; "
                f"its column {table.member} says of which a row is."
            )
    return plan


def _names(state: State) -> list[str]:
    return [*(one.name for one in state.tables), *(one.name for one in state.sources)]


def _plain(table_ids: Sequence[str]) -> str:
    whole = name_of_family(table_ids) if len(table_ids) > 1 else table_ids[0]
    last = whole.rpartition("/")[2] if whole.rpartition("/")[2].strip("*") else whole
    name = re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"\.[A-Za-z]{1,8}$", "", last)).strip("_")[:50]
    return f"t_{name}" if not name or name[0].isdigit() else name


def _free(name: str, taken: Iterable[str]) -> str:
    folded = {one.casefold() for one in taken}
    names = (name if n < 2 else f"{name}_{n}" for n in range(1, len(folded) + 3))
    return next(one for one in names if one.casefold() not in folded)


# --- the path ----------------------------------------------------------------------------------


def _path(group: GroupResult, plan: _Plan) -> tuple[str, list[dict[str, object]]]:
    """Return the table that others are joined to, and how; one that refers stands before others.

    So rows of the table with the most detail are kept as they are, and none is repeated.
    """
    by_id = {one: name for name, source in plan.sources.items() for one in source.table_ids}
    edges = [
        (by_id[one.table], by_id[one.other], one)
        for one in group.joins
        if one.table in by_id and one.other in by_id and by_id[one.table] != by_id[one.other]
    ]
    referred = {other for _, other, _ in edges}
    connected = [name for name in plan.sources if any(name in one[:2] for one in edges)]
    base = next((one for one in connected if one not in referred), next(iter(plan.sources)))
    placed, joins = [base], list[dict[str, object]]()
    while len(joins) < _MOST_JOINS:
        edge = next((one for one in edges if (one[0] in placed) != (one[1] in placed)), None)
        if edge is None:
            break
        table, other, join = edge if edge[0] in placed else (edge[1], edge[0], edge[2].turned())
        expect = "one" if edge[0] in placed else "any"
        joins.append({**_on(table, other, join, plan), "expect": expect})
        placed.append(other)
        if edge[2].is_guess:
            plan.assumptions.append(_guess(table, other, join))
    plan.questions += [
        f"How does {name} go together with {base}? No join is known; it is left out."
        for name in plan.sources
        if name not in placed
    ]
    return base, joins


def _on(table: str, other: str, join: JoinEdge, plan: _Plan) -> dict[str, object]:
    """Return how two tables are joined; of two families the like members."""
    mine, theirs = list(join.columns), list(join.other_columns)
    labels = plan.labels.get(table, frozenset()) & plan.labels.get(other, frozenset())
    if labels:
        mine.append(plan.columns[table][-1].name)
        theirs.append(plan.columns[other][-1].name)
    return {"table": table, "columns": mine, "other": other, "other_columns": theirs}


def _guess(table: str, other: str, join: JoinEdge) -> str:
    sides = (", ".join(f"{name}.{one}" for one in columns) for name, columns in (
        (table, join.columns), (other, join.other_columns)
    ))  # fmt: skip
    return f"{' is '.join(sides)}: their names and cells say so, nobody else does."


def _step(
    name: str,
    base: str,
    joins: Sequence[Mapping[str, object]],
    chosen: Mapping[str, tuple[str, str]],
) -> Step:
    if joins:
        options = {
            "joins": [dict(one) for one in joins],
            "columns": {one: f"{source}.{column}" for one, (source, column) in chosen.items()},
        }
        reads = (base, *(str(one["other"]) for one in joins))
        return Step(operator="join", reads=reads, makes=name, options=options)
    cells = ", ".join(f"{quoted(column)} AS {quoted(one)}" for one, (_, column) in chosen.items())
    return Step(operator="sql", reads=(base,), makes=name, code=f"SELECT {cells} FROM {base}")


# --- the columns -------------------------------------------------------------------------------


def _columns_meant(need: str, plan: _Plan, joined: Sequence[str]) -> Iterator[TargetColumn]:
    """Yield the columns that the words of a need name; all of them where it names fewer than two.

    Of a family the column that tells its members apart is among them.
    """
    words = _words(need)
    every = [(source, one) for source in joined for one in plan.columns[source]]
    named = [
        (source, one)
        for source, one in every
        if words & _words(one.name) or _is_member(source, one, plan)
    ]
    is_enough = sum(not _is_member(source, one, plan) for source, one in named) > 1
    taken: list[str] = []
    for source, one in (named if is_enough else every)[:_MOST_COLUMNS]:
        name = one.name if one.name.casefold() not in map(str.casefold, taken) else (
            _free(f"{source}_{one.name}", taken)
        )  # fmt: skip
        taken.append(name)
        origin = Origin(source=source, columns=(one.name,))
        yield TargetColumn(
            name=name, type=_type(one.type), description=one.said[:1_000], origins=(origin,)
        )


def _is_member(source: str, column: AnswerColumn, plan: _Plan) -> bool:
    return source in plan.labels and column is plan.columns[source][-1]


def _words(text: str) -> set[str]:
    return {singular(part) for part in name_parts(text) if part not in ENGLISH_STOP_WORDS}


def _spelled(name: str) -> str:
    return " ".join(map(singular, name_parts(name)))


def _type(kind: str) -> str:
    upper = kind.upper()
    if re.match("U?(TINY|SMALL|BIG|HUGE)?INT", upper):
        return "integer"
    known = {"number": "number", "DATE": "date", "TIMESTAMP": "timestamp", "BOOLEAN": "boolean"}
    return known.get(kind_of(kind), "text")


def _origin(wanted: TargetColumn, plan: _Plan, joined: Sequence[str]) -> tuple[str, str] | None:
    """Return the source and column that a target column is, as said or as its name says."""
    for one in wanted.origins:
        if one.source in joined and one.columns:
            return one.source, one.columns[0]
    name = _spelled(wanted.name)
    scored = [
        (fuzz.token_sort_ratio(name, _spelled(said)), -at, one.name)
        for at, source in enumerate(joined)
        for one in plan.columns[source]
        for said in (one.name, f"{source} {one.name}")
    ]
    score, at, column = max(scored, default=(0.0, 0, ""))
    return (joined[-at], column) if score >= _ALIKE else None


def _with_origin(column: TargetColumn, at: tuple[str, str] | None) -> TargetColumn:
    if at is None or column.origins:
        return column
    return column.model_copy(update={"origins": (Origin(source=at[0], columns=(at[1],)),)})
