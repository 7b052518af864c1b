"""How questions are answered that do not say."""

from pydantic import Field

from pneuma_assets.core.config.section import Section


class WeightsConfig(Section):
    """What each signal counts for a table; 0 leaves it out. Only their proportions matter.

    Chosen by cross-validation over three sets of tables and questions (docs/measurements.md).
    """

    meaning: float = Field(0.42, ge=0.0, le=1.0)
    """The block nearest in meaning."""
    words: float = Field(0.60, ge=0.0, le=1.0)
    """What people wrote: the words of the best block that is neither columns nor rows."""
    names: float = Field(0.10, ge=0.0, le=1.0)
    """The names of the table and of what it lies in."""
    values: float = Field(0.08, ge=0.0, le=1.0)
    """The words of all rows and of the columns' names."""
    rows: float = Field(0.14, ge=0.0, le=1.0)
    """The words of the best single row and of the columns' names."""
    cells: float = Field(0.12, ge=0.0, le=1.0)
    """Whole cells that the question repeats."""
    pairs: float = Field(0.11, ge=0.0, le=1.0)
    """Pairs of words that stand side by side in a cell."""
    neighbours: float = Field(0.20, ge=0.0, le=1.0)
    """The best table of the same schema or folder."""


class QueryConfig(Section):
    """Defaults of a question: k tables, n·k candidates a signal.

    The paper has n = 5; by all signals, tables rank the same with 2 (docs/measurements.md).
    With `alpha`, questions are answered by the paper's two sides alone, of which the words' one
    weighs so much (Pneuma, section 5.1); without it, by all signals.
    """

    k: int = Field(10, ge=1, le=1000)
    n: int = Field(2, ge=1, le=100)
    alpha: float | None = Field(None, ge=0.0, le=1.0)
    weights: WeightsConfig = WeightsConfig()
    trust: float = Field(0.02, ge=0.0, le=0.2)
    """The most that a table's score can lose for being less trusted than another, as a share of it;
    0: who owns, describes and uses a table makes no difference."""
    min_confidence: float = Field(0.13, ge=0.0, le=1.0)
    """An answer of less confidence is shown as one that probably is none; 0 refuses none."""
