"""What conversations reach: right states replayed, and a person simulated by rules who has none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import sqlglot
from sqlglot import exp

from pneuma_assets import Workspace
from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.seek.conversation import Conversation, Kind
from pneuma_assets.core.seek.state import State
from pneuma_bench.seek.needs import SLOTS, Need, same

ASKER = Asker("suite", None)
MOST_TURNS = 15


@dataclass
class Talked:
    """What a simulated conversation came to.

    Attributes:
        told: What the person said, in order.
        turns: How often they spoke.
        complete: The turn after which T had all tables and columns of the need; 0: none.
        answered: The turn after which the answer was there; 0: none.
        error: Why T could not be made the last time.
    """

    told: list[str]
    turns: int = 0
    complete: int = 0
    answered: int = 0
    error: str = ""


def replayed(workspace: Workspace, need: Need, *, wrong: bool = False) -> tuple[bool, set[str]]:
    """Have the conversation of the right state, or of that which falls into the trap.

    Returns whether the answer came, and which rules found something.
    """
    seek = workspace.seek
    begun = seek.start(ASKER, need.name).conversation_id
    list(seek.say(begun, need.told["say"], ASKER))
    seek.edit(begun, need.state(wrong=wrong), ASKER)
    seek.materialize(begun, ASKER)
    now = seek.run(begun, ASKER)
    seek.accept(begun, ASKER)
    cells = [event.cells or {} for kind in Kind if (event := now.shown(kind))]
    rules = {str(one["rule"]) for some in cells for one in some.get("findings", ())}
    return has_answer(now, need), rules


def talked(workspace: Workspace, need: Need, say: Callable[[str, str], None] | None) -> Talked:
    """Let a person who is made of rules work a need out with the system.

    They open with vague words, and accept rows that are the answer; they never write T. Without
    `say`, which says a text in a conversation, there is no model: while T lacks columns they say
    what they know of a slot that lacks them, or else the next that they have not told, at last what
    their tables are called; a proposal that does not do is taken back, and all that was told is
    said in one. They put their own query in the place of Q over a T that has all.

    A model they tell all that they know when it has not answered the opening words; then they agree
    to what it proposes, and of what is not the answer they say so, twice, with what they know.
    """
    seek = workspace.seek
    begun = seek.start(ASKER, need.name).conversation_id
    found = Talked([need.told["say"]])
    left = [*(one for one in SLOTS if one in need.told), "tables"]
    while found.turns < MOST_TURNS:
        found.turns += 1
        if say is None:
            while seek.get(begun, ASKER).state.tables:
                seek.undo(begun, ASKER)
            list(seek.say(begun, "; ".join(found.told), ASKER))
        else:
            say(begun, found.told[-1])
        now = seek.get(begun, ASKER)
        lacking = _lacking(need, now.state)
        if not lacking:
            found.complete = found.complete or found.turns
        right = not lacking and say is None and _asked(workspace, need, now, found)
        if right or has_answer(now, need):
            found.answered = found.turns
            return found
        if say is not None:
            if (text := _to_model(need, now, found)) is None:
                break
            found.told.append(text)
        elif left:
            slot = next((one for one in left if one in lacking), left[0])
            left.remove(slot)
            found.told.append(told_of(need, slot))
        else:
            break
    return found


_NO, _YES = "No, that is not what I need", "Yes, go ahead."
_MOST_NOS = 2


def _to_model(need: Need, now: Conversation, found: Talked) -> str | None:
    """Return what a person says next to a model that has not answered; None: they give up."""
    if found.turns == 1:
        return need.question
    if now.state.tables and now.shown(Kind.MADE) is None:
        return _YES
    if f"{told_of(need, 'tables')}" not in found.told:
        return told_of(need, "tables")
    nos = sum(one.startswith(_NO) for one in found.told)
    return f"{_NO}: {need.question}" if nos < _MOST_NOS else None


def has_answer(now: Conversation, need: Need) -> bool:
    """Tell whether the computed answer is among the results that are shown, as columns of one.

    Numbers may be rounded to three digits, as people read them.
    """
    event = now.shown(Kind.RESULT)
    rows = (event.cells or {})["rows"] if event else {}
    return any(
        same([[row[at] for at in places] for row in one], need.answer, digits=3)
        for one in rows.values()
        if len(one) == len(need.answer) > 0
        for places in permutations(range(len(one[0])), len(need.answer[0]))
    )


def _asked(workspace: Workspace, need: Need, now: Conversation, found: Talked) -> bool:
    """Put the person's query in the place of Q, and tell whether it gives the right rows."""
    tree = sqlglot.parse_one(need.sql, dialect="duckdb")
    for one in tree.find_all(exp.Table):
        one.set("this", exp.to_identifier(now.state.tables[0].name))
    query = {"name": "answer", "sql": tree.sql("duckdb")}
    given = {**now.state.model_dump(mode="json", exclude_defaults=True), "queries": [query]}
    try:
        workspace.seek.edit(now.conversation_id, given, ASKER)
        return has_answer(workspace.seek.run(now.conversation_id, ASKER), need)
    except PneumaError as error:
        found.error = str(error)
        return False


def told_of(need: Need, slot: str) -> str:
    """Return what a person says of a slot; their tables they know by the names of the files."""
    if slot != "tables":
        return need.told[slot]
    names = (ids[0].rpartition("/")[2].rstrip("_0123456789") for ids in need.of.values())
    return f"the tables are {' and '.join(names)}"


def _lacking(need: Need, state: State) -> set[str]:
    """Return the slots of which tables or columns are not in the state that is shown."""
    has = {one.name.casefold() for table in state.tables[:1] for one in table.columns}
    tree = sqlglot.parse_one(need.sql, dialect="duckdb")
    has |= {one.alias.casefold() for one in tree.find_all(exp.Alias, exp.TableAlias)}
    lacking = {
        "filter" if one.find_ancestor(exp.Where, exp.Filter, exp.Having) else "measure"
        for one in tree.find_all(exp.Column)
        if one.name.casefold() not in has
    }
    read = {one for source in state.sources for one in source.table_ids}
    return lacking | {"tables" for ids in need.of.values() if not set(ids) <= read}


def found_tables(workspace: Workspace, need: Need) -> list[tuple[float, float]]:
    """Return the share of a need's tables found by the opening words, then after each slot.

    Of each two shares the first is among the first ten, the second in the first set of tables,
    which is what the pipeline without a model takes. Of a family any member will do.
    """
    shares, words = [], ""
    for slot in ("say", *(one for one in SLOTS if one in need.told), "tables"):
        words += f"{told_of(need, slot)}; "
        tables = [one.table_id for one in workspace.ask(words, k=10)]
        groups = workspace.find_groups(words, k=1)
        shares.append((_share(need, tables), _share(need, groups[0].tables if groups else ())))
    return shares


def _share(need: Need, tables: Sequence[Any]) -> float:
    return sum(bool(set(ids) & set(tables)) for ids in need.of.values()) / len(need.of)
