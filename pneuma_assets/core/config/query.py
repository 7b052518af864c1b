"""How questions are answered that do not say."""

from typing import Self

from pydantic import Field

from pneuma_assets.core.config.section_base import Section


class QueryConfig(Section):
    """What a deployment file says of every question."""

    trust: float = Field(
        0.02, ge=0.0, le=0.2, description="Most that a less trusted table's score loses; 0: none."
    )
    min_confidence: float = Field(
        0.10, ge=0.0, le=1.0, description="Below it, `search` says that nothing matches."
    )


class Weights(Section):
    """What each signal counts for a table; 0 leaves it out. Only their proportions matter.

    Chosen by a softmax regression over eleven sets of tables and questions, each left out once
    (docs/measurements.md). All signals are shares from 0 to 1.
    """

    meaning: float = Field(0.24, ge=0.0, le=1.0)
    """The block nearest in meaning."""
    words: float = Field(0.06, ge=0.0, le=1.0)
    """What people wrote: the words of the best block that is neither columns nor rows."""
    names: float = Field(0.19, ge=0.0, le=1.0)
    """The names of the table and of what it lies in."""
    own: float = Field(0.03, ge=0.0, le=1.0)
    """How much of the table's own name the question says."""
    rows: float = Field(0.11, ge=0.0, le=1.0)
    """The words of the best row, or of all rows, and of the columns' names."""
    cells: float = Field(0.11, ge=0.0, le=1.0)
    """Whole cells that the question repeats."""
    coverage: float = Field(0.10, ge=0.0, le=1.0)
    """How much of the question the names of the table and of its columns say, and what is written
    about these."""
    place: float = Field(0.10, ge=0.0, le=1.0)
    """How much of it the best two tables of the same schema or folder say together."""
    rare: float = Field(0.05, ge=0.0, le=1.0)
    """Words that are no common English and that few tables hold."""


class QueryOptions(QueryConfig):
    """All that a question may set: k tables, n times k candidates a signal.

    The paper has n = 5; by all signals, tables rank the same with 2 (docs/measurements.md).
    With `alpha`, questions are answered by the paper's two sides alone, of which the words' one
    weighs so much (Pneuma, section 5.1); without it, by all signals.
    """

    k: int = Field(10, ge=1, le=1000)
    n: int = Field(2, ge=1, le=100)
    alpha: float | None = Field(None, ge=0.0, le=1.0)
    weights: Weights = Weights()

    @classmethod
    def of(cls, config: QueryConfig) -> Self:
        """Return the options of a question that sets none, in a deployment that says this."""
        return cls(**dict(config))
