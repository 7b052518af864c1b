"""Whether joins repeat the rows of which something is told."""

from collections.abc import Collection, Mapping

from pneuma_assets.core.answers.templates.names import Names
from pneuma_assets.core.answers.templates.plan import Plan


def is_repeated(plan: Plan, places: Mapping[str, int], once: Collection[str] = ()) -> bool:
    """Tell whether a join repeats rows of which something is told, several referring to one.

    Args:
        plan: With its joins.
        places: The place of each table in the set, by its id.
        once: Tables that refer to each row at most once.
    """
    told = [plan.measured] if plan.how else plan.shown
    starts = {one.table for one in told if one is not None}
    if plan.how == "count" and plan.measured is None and plan.counted is not None:
        starts = {plan.counted}
    if len(starts) != 1 or (plan.how == "count" and plan.distinct):
        return len(starts) > 1
    for _ in plan.joins:
        for edge in plan.joins:
            if places[edge.other] in starts and places[edge.table] not in starts:
                if edge.table not in once:
                    return True
                starts.add(places[edge.table])
            if places[edge.table] in starts:
                starts.add(places[edge.other])
    return False


def adds_repeated(plan: Plan, places: Mapping[str, int], names: Names) -> bool:
    """Tell whether a count, a sum or an average has rows as often as others refer to them.

    A table that does nothing but link two, `writes` of authors and publications, does not repeat
    the publications of one author, or of each one.
    """
    if plan.how not in {"count", "sum", "average"}:
        return False
    fixed = {one.table for one in plan.groups if one.unique}
    for condition in plan.where:
        one = condition.fields[0]
        if condition.how == "equals" and len(condition.values) == len(condition.fields) == 1:
            fixed |= {one.table} if one.unique else set()
    links = set()
    for table_id in {edge.table for edge in plan.joins}:
        ends = [edge for edge in plan.joins if edge.table == table_id]
        linking = {column for edge in ends for column in edge.columns}
        columns = {one.name for one in names.tables[places[table_id]].fields}
        if columns == linking and len(ends) == 2 and any(places[e.other] in fixed for e in ends):
            links.add(table_id)
    return is_repeated(plan, places, links)
