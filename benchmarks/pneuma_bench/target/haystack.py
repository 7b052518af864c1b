"""Ever more real tables around those that some questions ask for."""

import random
from collections.abc import Sequence
from dataclasses import replace

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.sets import RetrievalSet


def haystack(
    dataset: RetrievalSet, hay: Sequence[RetrievalSet], questions: int, size: int, seed: int
) -> RetrievalSet:
    """Return a set of so many tables, among which the first questions of another have theirs.

    Tables of `hay` stand beside its own; the seed decides which.

    Raises:
        BenchmarkError: There are fewer tables, or more that are asked for.
    """
    first = dataset.first(questions)
    wanted = {table_id for relevant in first.relevant for table_id in relevant}
    asked = [pair for pair in dataset.tables if pair[0].table_id in wanted]
    others = [pair for pair in dataset.tables if pair[0].table_id not in wanted]
    for number, one in enumerate(hay):
        # Two sets may have a name, and so an id, in common.
        others += [
            (replace(t, table_id=f"hay{number}/{t.table_id}"), rows) for t, rows in one.tables
        ]
    if not len(asked) <= size <= len(asked) + len(others):
        raise BenchmarkError(
            f"of {len(asked) + len(others):,} tables {len(asked):,} are asked for, so there cannot "
            f"be {size:,}; take another size"
        )
    random.Random(seed).shuffle(others)  # noqa: S311
    return replace(first, tables=[*asked, *others][:size], names={}, contexts={}, joins=())
