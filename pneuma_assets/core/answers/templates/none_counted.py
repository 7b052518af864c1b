"""Counts in which those that have none come first: `the fewest orders`, `less than 2 orders`.

A join leaves out whom nobody refers to, and so does a condition. Where these are wanted, all rows
of the table that is grouped are kept, and conditions on what is counted belong to the join.
"""

from collections import Counter
from collections.abc import Mapping

from pneuma_assets.core.answers.templates.plan import Condition, NoPlanError, Plan

_LEFT_OUT = "those that have none would be left out"


def keep_those_with_none(plan: Plan, places: Mapping[str, int]) -> None:
    """Let a plan keep the groups of which nothing is counted, where they are wanted.

    Args:
        plan: With tables and joins.
        places: The place of each table in the set, by its id.

    Raises:
        NoPlanError: They are wanted, and would be left out.
    """
    wanted = plan.falling is False and plan.order is None
    wanted = wanted or (plan.having is not None and _holds_of_none(plan.having))
    if not (wanted and plan.groups and plan.how in {"count", "sum"}):
        return
    grouped = {one.table for one in (*plan.groups, *plan.shown)}
    counted = {plan.measured.table} if plan.measured is not None else set(plan.tables)
    if plan.how == "sum":
        if grouped != counted:
            raise NoPlanError(_LEFT_OUT)  # Nothing adds up to nothing, which may be the least.
        return
    if any(one.is_key and not one.unique for one in plan.groups):
        raise NoPlanError(_LEFT_OUT)  # A key of others; those that have none are not here.
    if grouped == counted and not plan.joins and not plan.where:
        return
    if not (len(grouped) == len(counted) == 1 and _are_ends(plan, grouped | counted, places)):
        raise NoPlanError(_LEFT_OUT)
    tables = [{one.table for one in condition.fields} for condition in plan.where]
    if any(some not in (grouped, counted) for some in tables):
        raise NoPlanError(_LEFT_OUT)
    plan.outer = min(grouped)


def _are_ends(plan: Plan, ends: set[int], places: Mapping[str, int]) -> bool:
    """Tell whether the joins lead from one of two tables to the other, and nowhere else."""
    met = Counter(places[table] for edge in plan.joins for table in edge.tables)
    once = {table for table, times in met.items() if times == 1}
    return len(ends) == 2 and once == ends and max(met.values()) <= 2


def _holds_of_none(having: Condition) -> bool:
    """Tell whether 0 is as many as is asked for."""
    try:
        numbers = [float(value) for value in having.values]
    except ValueError as error:
        raise NoPlanError("a count is not compared with a day") from error
    if having.how == "between":
        return numbers[0] <= 0 <= numbers[1]
    if having.how == "equals":
        return 0 in numbers
    return {
        "more": numbers[0] < 0,
        "less": numbers[0] > 0,
        "least": numbers[0] <= 0,
        "most": numbers[0] >= 0,
    }[having.how]
