"""How questions are answered that do not say."""

from pydantic import Field

from pneuma_assets.core.config.section import Section


class QueryConfig(Section):
    """Defaults of a question: k results, n·k candidates a side, alpha on the words' side."""

    k: int = Field(10, ge=1, le=1000)
    n: int = Field(5, ge=1, le=100)
    alpha: float = Field(0.5, ge=0.0, le=1.0)
