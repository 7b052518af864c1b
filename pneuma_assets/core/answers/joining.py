"""Whether conditions join what a query selects from, so that its rows are not all multiplied."""

from collections.abc import Iterable, Sequence

from sqlglot import exp

from pneuma_assets.core.answers.refusing import Guard, refuse
from pneuma_assets.core.answers.relations import Found, Relation, conjuncts, fixes_a_value


def check_joined(
    found: Found,
    relations: Sequence[Relation],
    conditions: Iterable[exp.Expr | None],
    linked: Iterable[Sequence[Relation]],
) -> None:
    """Refuse relations between which no condition stands.

    One that gives few rows whatever the tables hold, such as an average, may stand beside others,
    and so may one of which a column has to equal a value.

    Args:
        found: Whose columns are whose.
        relations: What one query selects from.
        conditions: Its WHERE, and ON of each join.
        linked: Those that NATURAL or USING joins.

    Raises:
        SqlRefusedError: Two are joined by nothing.
    """
    group = {id(one): number for number, one in enumerate(relations)}

    def join(ones: Sequence[Relation]) -> None:
        numbers = {group[id(one)] for one in ones if id(one) in group}
        for key, number in group.items():
            if number in numbers:
                group[key] = min(numbers)

    for ones in linked:
        join(ones)
    fixed: set[int] = set()
    for condition in conditions:
        for part in conjuncts(condition):
            columns = part.find_all(exp.Column)
            owners = [found.owners[id(one)] for one in columns if id(one) in found.owners]
            join(owners)
            if fixes_a_value(part):
                fixed.update(map(id, owners))
    large = [one for one in relations if not one.output.few and id(one) not in fixed]
    if len({group[id(one)] for one in large}) > 1:
        names = ", ".join(repr(one.name) for one in large[:5])
        refuse(
            Guard.CROSS_JOIN,
            f"no condition joins all of {names}; say by ON or WHERE which columns have to be equal",
        )
