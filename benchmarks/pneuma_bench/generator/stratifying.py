"""Draws over the 51 questions of the datasheet as evenly as can be (Pneuma, section 6.2.2)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def draw_evenly(
    available: Mapping[int, Sequence[T]],
    wanted: int,
    table_of: Callable[[T], str],
    given: Counter[int],
    tables: Counter[str],
) -> list[T]:
    """Return so many, always one of the stratum that has given the fewest, and of the fewest table.

    What a stratum cannot give is given by the others in equal parts. The paper takes as many of
    each; where tables are described by people, some questions are answered of none.

    Args:
        available: What each stratum can give, in the order in which it is preferred; of strata that
            have given as much, the first one here gives.
        wanted: How many; fewer where there are no more.
        table_of: Tells whose it is.
        given: What each stratum has given before.
        tables: How often each table was drawn before.
    """
    left = {stratum: [*some] for stratum, some in available.items() if some}
    given, tables = given.copy(), tables.copy()
    drawn: list[T] = []
    while left and len(drawn) < wanted:
        stratum = min(left, key=lambda one: given[one])
        some = left[stratum]
        place = min(range(len(some)), key=lambda at: (tables[table_of(some[at])], at))
        drawn.append(some.pop(place))
        given[stratum] += 1
        tables[table_of(drawn[-1])] += 1
        if not some:
            del left[stratum]
    return drawn
