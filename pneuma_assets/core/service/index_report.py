"""What people are told of indexing: what was done, and how the tables stand now."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pneuma_assets.core.models.usage import Prices, Usage
from pneuma_assets.core.pipeline.lineage import STAGE as LINEAGE
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.problems import WAITS
from pneuma_assets.core.store.runs import StageRecord
from pneuma_assets.core.store.tables import TableState
from pneuma_assets.core.tables import Problem, source_of


@dataclass(frozen=True, slots=True)
class IndexingReport:
    """What one call of `run_indexing` did; `elsewhere` counts tables that other runs hold.

    Of the tables `renamed`, `last_renaming` names one as `old -> new`.

    Of the tables indexed, `columns` counts their columns, `described_columns` those of which
    anything is said by anybody, and `narrated_columns` those that a language model was asked for;
    `usage` is what that took.
    It has `succeeded` unless a source could not be listed, or none of their tables is searchable
    and none has left either. Where nothing waited for a run, and none was started, there are no
    `stage_seconds`.
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
    usage: Usage
    seconds: float
    stage_seconds: Mapping[str, float]
    problems: Sequence[Problem]
    succeeded: bool
    last_renaming: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON types."""
        problems = [{"table": p.subject, "stage": p.stage, "cause": p.cause} for p in self.problems]
        return {**asdict(self), "problems": problems}


def make_report(
    store: Store,
    runs: Sequence[Mapping[str, StageRecord]],
    sources: Sequence[str],
    seconds: float,
    prices: Prices = Prices(0.0, 0.0),  # noqa: B008 (frozen)
) -> IndexingReport:
    """Return what was done, and how the tables of these sources stand now.

    A table that has another name now is counted as renamed, and not as removed under its old one,
    whoever has noticed it: this run, or a sensor before.
    Files of lineage are of no source: their problems are told whatever was chosen.

    `runs` is what the store kept of each, by stage in their order; a stage that did not end is not
    there.
    """

    def chosen(subject: str) -> bool:
        return source_of(subject) in sources

    def counted(stage: str, name: str) -> int:
        return sum(int(run[stage].figures.get(name, 0)) for run in runs if stage in run)

    records = [record for record in store.tables.records() if chosen(record.table_id)]
    states = Counter(record.state for record in records)
    indexed, renamed = (counted("search_index", one) for one in ("tables", "renamed"))
    removed, forgotten = (counted("search_index", one) for one in ("removed", "forgotten"))
    problems = [p for p in store.problems.all() if p.stage == LINEAGE or chosen(p.subject)]
    left = states[TableState.FAILED] + sum(p.stage == WAITS for p in problems)
    stages = dict.fromkeys(stage for run in runs for stage in run)
    told = ("requests", "tokens_read", "tokens_written")
    asked, read, written = (counted("schema_narrations", name) for name in told)
    return IndexingReport(
        indexed=indexed,
        unchanged=max(0, states[TableState.INDEXED] - indexed),
        removed=removed,
        renamed=renamed,
        forgotten=forgotten,
        failed=states[TableState.FAILED],
        elsewhere=sum(record.claimed for record in records),
        blocks=counted("embedding_blocks", "blocks"),
        columns=counted("schema_narrations", "columns"),
        described_columns=counted("schema_narrations", "shown"),
        narrated_columns=counted("schema_narrations", "narrated"),
        usage=Usage(asked, read, written, prices.cost(read, written)),
        seconds=seconds,
        stage_seconds={s: sum(run[s].seconds for run in runs if s in run) for s in stages},
        problems=problems,
        succeeded=not any(problem.subject in sources for problem in problems)
        and (removed + forgotten > 0 or len(records) > left),
        last_renaming=store.removals.last_renaming() if renamed else "",
    )
