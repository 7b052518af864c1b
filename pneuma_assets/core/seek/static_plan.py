"""A first state without a model: the tables that were found, joined as is known, pruned to T.

The static pipeline of Pneuma-Seeker (section 3.5). A person edits what it proposes; what it takes
for granted stands in the assumptions, and what it does not know in the questions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rapidfuzz import fuzz

from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.relations.families import name_of_family
from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_assets.core.relations.rank_groups import GroupResult
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

_MOST_COLUMNS, _MOST_MEMBERS, _MOST_JOINS = 40, 1_000, 10
_ALIKE = 80.0
"""Likeness of the names of a column that is wanted and one that is it, of 100."""


@dataclass(slots=True)
class _Plan:
    """Of each source the table, its columns, and of a family its members; and what is said."""

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
    plan = _planned(groups[0], relations, state, families or {})
    own = TargetTable(name=_free("result", [*_names(state), *plan.sources]), description=need[:999])
    target = next((one for one in state.tables if not one.steps), own)
    base, joins = _path(groups[0], plan)
    joined = [base, *(one["other"] for one in joins)]
    wanted = target.columns or tuple(_meant(need, plan, joined))
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
    query = Query(name="rows", sql=f"SELECT * FROM {made.name}", description="what was found")
    update = {
        "sources": (*state.sources, *(s for n, s in plan.sources.items() if n not in known)),
        "tables": (*(one for one in state.tables if one is not target), made),
        "queries": state.queries or (query,),
        "assumptions": (*state.assumptions, *assumed),
        "questions": tuple(dict.fromkeys((*state.questions, *(t[:999] for t in plan.questions)))),
    }
    return state.model_copy(update=update)


def _planned(
    group: GroupResult, relations: Relations, state: State, families: Mapping[str, Sequence[str]]
) -> _Plan:
    plan = _Plan()
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


def _path(group: GroupResult, plan: _Plan) -> tuple[str, list[dict[str, Any]]]:
    """Return the table that others are joined to, and how; one that refers stands before others.

    So rows of the table with the most detail are kept as they are, and none is repeated.
    """
    by_id = {one: name for name, source in plan.sources.items() for one in source.table_ids}
    edges = [
        (by_id[one.table], by_id[one.other], one)
        for one in group.joins
        if one.table in by_id and one.other in by_id and by_id[one.table] != by_id[one.other]
        if one.is_key  # a shared domain pairs each row of one table with many of the other
    ]
    referred = {other for _, other, _ in edges}
    base = next((one for one, *_ in edges if one not in referred), next(iter(plan.sources)))
    placed, joins = [base], list[dict[str, Any]]()
    while len(joins) < _MOST_JOINS:
        edge = next((one for one in edges if (one[0] in placed) != (one[1] in placed)), None)
        if edge is None:
            break
        refers = edge[0] in placed
        table, other, join = edge if refers else (edge[1], edge[0], edge[2].turned())
        joins.append({**_on(table, other, join, plan), "expect": "one" if refers else "any"})
        placed.append(other)
    plan.questions += [
        f"How does {name} go together with {base}? No join is known; it is left out."
        for name in plan.sources
        if name not in placed
    ]
    return base, joins


def _on(table: str, other: str, join: JoinEdge, plan: _Plan) -> dict[str, Any]:
    """Return how two tables are joined; of two families the like members."""
    mine, theirs = list(join.columns), list(join.other_columns)
    if join.is_guess:
        pairs = zip(mine, theirs, strict=True)
        said = " and ".join(f"{table}.{one} is {other}.{same}" for one, same in pairs)
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


def _meant(need: str, plan: _Plan, joined: Sequence[str]) -> Iterator[TargetColumn]:
    """Yield the columns that the words of a need name; all of them where it names fewer than two.

    Of a family the column that tells its members apart is among them.
    """
    words = _words(need)
    every = [(source, one) for source in joined for one in plan.columns[source]]
    named = [pair for pair in every if words & _words(pair[1].name)]
    kept = [pair for pair in every if pair in named or plan.tells_members(*pair)]
    taken: list[str] = []
    for source, one in (kept if len(named) > 1 else every)[:_MOST_COLUMNS]:
        is_taken = one.name.casefold() in map(str.casefold, taken)
        taken.append(_free(f"{source}_{one.name}", taken) if is_taken else one.name)
        origin = Origin(source=source, columns=(one.name,))
        yield TargetColumn(
            name=taken[-1], type=_type(one.type), description=one.said[:999], origins=(origin,)
        )


def _words(text: str) -> set[str]:
    return {singular(part) for part in name_parts(text) if part not in ENGLISH_STOP_WORDS}


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
