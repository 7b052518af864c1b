"""What one table costs the others: nothing, whatever goes wrong with it."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pneuma_assets.core.errors import (
    AccessRefusedError,
    PneumaError,
    SourceError,
    TableReadError,
)
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import WorkItem
from pneuma_assets.core.tables import Problem

logger = logging.getLogger(__name__)


@contextmanager
def one_table(store: Store, run_id: str, item: WorkItem, stage: str) -> Iterator[None]:
    """Turn whatever goes wrong with one table into its recorded problem; the others go on."""
    table_id = item.ref.table_id
    try:
        yield
    except (TableReadError, SourceError) as error:  # its part of the source may have gone
        logger.warning("%s: %s", table_id, error)
        failed = store.queue.fail(Problem(table_id, stage, str(error)), run_id)
        if failed and isinstance(error, AccessRefusedError):
            store.removals.retract(table_id)
    except PneumaError:
        raise
    except Exception as error:  # one hostile table must not stop two thousand others
        logger.exception("Reading %s failed in a way nobody foresaw", table_id)
        cause = " ".join(f"Unexpected {type(error).__name__}: {error}".split())[:500]
        store.queue.fail(Problem(table_id, stage, f"{cause}; please report this file."), run_id)


class SourcesByName:
    """The sources of a run, from which a table finds its own."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._by_name: Mapping[str, Source] = {source.name: source for source in sources}

    def of(self, item: WorkItem) -> Source:
        """Return the source that a table is in; raises `TableReadError` if that is another."""
        try:
            return self._by_name[item.ref.source]
        except KeyError:
            raise TableReadError(
                f"The source {item.ref.source!r} is not configured; add it to the deployment file."
            ) from None
