"""What all rows of a table say, gathered once while it is read."""

import logging
from dataclasses import dataclass

from pneuma_assets.core.config.indexing import SamplingConfig
from pneuma_assets.core.errors import AccessRefusedError, TableReadError
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.gathering import gather
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import WorkItem
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.collect import CollectedTerms, collect_rows

logger = logging.getLogger(__name__)

STAGE = "values"
"""Under which problems of gathering are recorded; the table is indexed all the same."""


@dataclass(frozen=True, slots=True)
class Values:
    """What was gathered of a table's rows, and whether all that was wanted is there."""

    gathered: CollectedTerms
    whole: bool


def gather_values(store: Store, source: Source, item: WorkItem, sampling: SamplingConfig) -> Values:
    """Gather rows and cells of a table's evidence; none where values are left out.

    A table whose rows cannot all be read, in time or at all, is searched by the values of sampled
    rows, and that is recorded.

    Raises:
        TableReadError: No row can be read either, or none may be read any more; or the table has
            other columns now than when it was profiled.
    """
    if not sampling.values:
        store.problems.record_of_table(item.ref.table_id, STAGE, None)
        return Values(CollectedTerms(TableTerms(), None), whole=True)
    try:
        gathered, cause = gather(source, item.ref, sampling.seed), None
    except AccessRefusedError:
        raise
    except TableReadError as error:
        drawn = source.sample(item.ref, sampling.rows, sampling.seed) or []
        width = len(item.table.columns) if item.table is not None else 0
        some = collect_rows([row.cells for row in drawn], width, sampling.seed)
        gathered = CollectedTerms(some.terms, None)
        cause = (
            f"only {len(drawn)} sampled rows can be found by their values, because not all rows "
            f"could be read: {error}"
        )
        logger.warning("%s: %s", item.ref.table_id, cause)
    _check_width(item, gathered.terms)
    store.problems.record_of_table(item.ref.table_id, STAGE, cause)
    return Values(gathered, whole=cause is None)


def _check_width(item: WorkItem, gathered: TableTerms) -> None:
    """Raise `TableReadError` unless rows have a cell for each column that is known."""
    if item.table is None or not gathered.rows:
        return
    found, known = len(gathered.rows[0]), len(item.table.columns)
    if found != known:
        raise TableReadError(
            f"The table changed while it was read, from {known} columns to {found}; the next run "
            "reads it again."
        )
