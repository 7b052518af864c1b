"""How much a run takes on, how much a table may take, and what stands for it."""

from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field

from pneuma_assets.core.config.section import Section


class SamplingConfig(Section):
    """Which rows stand for a table (Pneuma, section 4: r = 5)."""

    rows: int = Field(5, ge=0, le=1000)
    seed: int = Field(0, ge=0)
    values: bool = Field(True, description="Whether tables are found by what all rows say.")


class IndexingConfig(Section):
    """How much one run takes on, and how often a failing table is tried."""

    tables_per_run: int = Field(2000, ge=1)
    max_attempts: int = Field(3, ge=1)
    row_change: float = Field(
        0.2,
        ge=0.0,
        description="Share of rows changed that draws all rows anew; 0: any write.",
    )
    row_changes: dict[str, Annotated[float, Field(ge=0.0)]] = Field(
        default_factory=dict,
        description="The same of tables whose ids match a pattern; the first counts.",
    )
    removal_share: float = Field(
        0.5, ge=0.0, le=1.0, description="More of a source gone at once is held; 1: never."
    )
    min_removals: int = Field(10, ge=1, description="Fewer tables are never held.")
    quiet_period_seconds: float = Field(
        10.0, ge=0.0, le=3600.0, description="Sensors leave a table alone that was just written."
    )

    def row_change_of(self, table_id: str) -> float:
        """Return which share of its rows a table may change before all are drawn anew."""
        own = (s for pattern, s in self.row_changes.items() if fnmatchcase(table_id, pattern))
        return next(own, self.row_change)


class LimitsConfig(Section):
    """How much the reading of one table may take before it becomes that table's problem."""

    seconds_per_table: float = Field(60.0, gt=0, le=86_400)
    seconds_per_gigabyte: float = Field(300.0, ge=0, le=86_400)
    columns: int = Field(10_000, ge=1)
    memory_gigabytes: float = Field(2.0, ge=1, description="Of the process that reads.")
    temporary_gigabytes: float = Field(20.0, gt=0, description="Unpacked text, spilled rows.")
