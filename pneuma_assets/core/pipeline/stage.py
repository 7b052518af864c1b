"""What the stages of a run share: figures, the failure of one table kept to itself, documents."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from pneuma_assets.core.errors import (
    AccessRefusedError,
    PneumaError,
    SourceError,
    TableReadError,
    TableTooSlowError,
)
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.problems import SLOW
from pneuma_assets.core.store.queue import WorkItem
from pneuma_assets.core.tables import Document, DocumentKind, Problem

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Figures:
    """Whole numbers that a stage of a run counted; each stage has a class of its own.

    A field counts from 0, so that what parts of a stage did adds up, and so does what several runs
    did. It is a number, or numbers by kind. In Dagster's UI and in the store its name has blanks
    for underscores (`begun_anew` is "begun anew"), and after a kind (`blocks` is "rows blocks").

    Attributes:
        stage: The asset that counts these.
    """

    stage: ClassVar[str]

    def named(self) -> dict[str, int]:
        """Return every number by its name, in the order of the fields."""
        named: dict[str, int] = {}
        for each in fields(self):
            name, value = each.name.replace("_", " "), getattr(self, each.name)
            by_kind = isinstance(value, Mapping)
            named |= (
                {f"{kind} {name}": n for kind, n in value.items()} if by_kind else {name: value}
            )
        return named

    def __add__(self, other: Self) -> Self:
        """Return figures in which each number is the sum of both."""
        both = {
            one.name: (getattr(self, one.name), getattr(other, one.name)) for one in fields(self)
        }
        return type(self)(**{name: _sum(*values) for name, values in both.items()})


def _sum(one: Any, other: Any) -> Any:
    if isinstance(one, Mapping):
        return {kind: one.get(kind, 0) + other.get(kind, 0) for kind in one | other}
    return one + other


@contextmanager
def isolate_failures(store: Store, run_id: str, item: WorkItem, stage: str) -> Iterator[None]:
    """Turn whatever goes wrong with one table into its recorded problem; the others go on."""
    table_id = item.ref.table_id
    try:
        yield
    except (TableReadError, SourceError) as error:  # its part of the source may have gone
        logger.warning("%s: %s", table_id, error)
        stage = SLOW if isinstance(error, TableTooSlowError) else stage
        failed = store.queue.fail(Problem(table_id, stage, str(error)), run_id)
        if failed and isinstance(error, AccessRefusedError):
            store.removals.retract(table_id)
    except PneumaError:
        raise
    except Exception as error:  # one hostile table must not stop two thousand others
        logger.exception("Reading %s failed unexpectedly", table_id)
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


@contextmanager
def save_documents(
    store: Store, run_id: str, made: Mapping[str, Mapping[DocumentKind, Sequence[Document]]]
) -> Iterator[set[str]]:
    """Save tables' documents, by id and kind, and what the `with` block writes, as one act.

    Of the kinds that were made, a table has exactly these then. One that the run no longer holds
    keeps what it has; the block is given the ids of the others.
    """
    with store.queue.holding(run_id, made) as held:
        for kind in dict.fromkeys(kind for i in held for kind in made[i]):
            store.documents.replace(kind, [(i, made[i][kind]) for i in made if i in held])
        yield held
