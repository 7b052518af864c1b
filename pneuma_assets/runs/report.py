"""What one call of `run_indexing` did: the figures of its runs, and the report made of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, TypeVar

from pneuma_assets.core.pipeline.describe import SchemaNarrationsFigures
from pneuma_assets.core.pipeline.embed import EmbeddingBlocksFigures
from pneuma_assets.core.pipeline.lineage import STAGE as LINEAGE
from pneuma_assets.core.pipeline.list import RawTablesFigures
from pneuma_assets.core.pipeline.stage import Figures
from pneuma_assets.core.pipeline.write import SearchIndexFigures
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.runs import StageRecord
from pneuma_assets.core.store.tables import TableState
from pneuma_assets.core.tables import Problem, source_of

F = TypeVar("F", bound=Figures)


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What the stages of one run counted, or those of several runs together."""

    read: RawTablesFigures
    narrated: SchemaNarrationsFigures
    embedded: EmbeddingBlocksFigures
    indexed: SearchIndexFigures
    seconds: Mapping[str, float]
    """How long each stage took, by its name."""

    @classmethod
    def from_records(cls, records: Mapping[str, StageRecord]) -> Self:
        """Return what the store kept of a run; of a stage that did not end, nothing."""
        return cls(
            read=_figures(RawTablesFigures, records),
            narrated=_figures(SchemaNarrationsFigures, records),
            embedded=_figures(EmbeddingBlocksFigures, records),
            indexed=_figures(SearchIndexFigures, records),
            seconds={stage: record.seconds for stage, record in records.items()},
        )

    def __add__(self, other: Self) -> Self:
        """Return the figures of both."""
        stages = dict.fromkeys([*self.seconds, *other.seconds])
        return type(self)(
            read=self.read + other.read,
            narrated=self.narrated + other.narrated,
            embedded=self.embedded + other.embedded,
            indexed=self.indexed + other.indexed,
            seconds={s: self.seconds.get(s, 0.0) + other.seconds.get(s, 0.0) for s in stages},
        )


def _figures(kind: type[F], records: Mapping[str, StageRecord]) -> F:
    record = records.get(kind.stage)
    return kind.from_named({} if record is None else record.figures)


@dataclass(frozen=True, slots=True)
class IndexingReport:
    """What one call of `run_indexing` did; `elsewhere` counts tables that other runs hold.

    Of the tables indexed, `columns` counts their columns, `described_columns` those of which
    anything is said by anybody, and `narrated_columns` those that a language model was asked for.
    """

    indexed: int
    unchanged: int
    removed: int
    renamed: int
    forgotten: int
    failed: int
    elsewhere: int
    blocks: int
    columns: int
    described_columns: int
    narrated_columns: int
    seconds: float
    stage_seconds: Mapping[str, float]
    problems: Sequence[Problem]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON types."""
        problems = [{"table": p.subject, "stage": p.stage, "cause": p.cause} for p in self.problems]
        return {**asdict(self), "problems": problems}


def make_report(
    store: Store, figures: RunFigures, sources: Sequence[str], seconds: float
) -> IndexingReport:
    """Return what was done, and how the tables of these sources (all if none) stand now.

    A table that has another name now is counted as renamed, and not as removed under its old one,
    whoever has noticed it: this run, or a sensor before.
    Files of lineage are of no source: their problems are told whatever was chosen.
    """

    def chosen(subject: str) -> bool:
        return not sources or source_of(subject) in sources

    records = [record for record in store.tables.records() if chosen(record.table_id)]
    states = Counter(record.state for record in records)
    return IndexingReport(
        indexed=figures.indexed.tables,
        unchanged=max(0, states[TableState.INDEXED] - figures.indexed.tables),
        removed=figures.indexed.removed,
        renamed=figures.indexed.renamed,
        forgotten=figures.indexed.forgotten,
        failed=states[TableState.FAILED],
        elsewhere=sum(record.claimed for record in records),
        blocks=figures.embedded.blocks,
        columns=figures.narrated.columns,
        described_columns=figures.narrated.shown,
        narrated_columns=figures.narrated.narrated,
        seconds=seconds,
        stage_seconds=figures.seconds,
        problems=[p for p in store.problems.all() if p.stage == LINEAGE or chosen(p.subject)],
    )
