"""How much a run takes on, how much a table may take, and what stands for it."""

from pydantic import Field

from pneuma_assets.core.config.section import Section


class SamplingConfig(Section):
    """Which rows stand for a table (Pneuma, section 4: r = 5)."""

    rows: int = Field(5, ge=0, le=1000)
    values: bool = Field(True, description="Whether tables are found by what all rows say.")


class IndexingConfig(Section):
    """How much one run takes on."""

    tables_per_run: int = Field(2000, ge=1)
    row_change: float = Field(
        0.2,
        ge=0.0,
        description="Share of rows changed that draws all rows anew; 0: any write.",
    )
    quiet_period_seconds: float = Field(
        10.0, ge=0.0, le=3600.0, description="Sensors leave a table alone that was just written."
    )


class LimitsConfig(Section):
    """How much the reading of one table may take before it becomes that table's problem."""

    seconds_per_table: float = Field(60.0, gt=0, le=86_400)
    seconds_per_gigabyte: float = Field(300.0, ge=0, le=86_400)
    memory_gigabytes: float = Field(2.0, ge=1, description="Of the process that reads.")
    temporary_gigabytes: float = Field(20.0, gt=0, description="Unpacked text, spilled rows.")
