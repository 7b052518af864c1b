"""What an answer consists of: a table, why it was found, and the text that matched."""

from dataclasses import asdict, dataclass
from typing import Any

from pneuma_assets.core.tables import DocumentKind


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """Where a score comes from.

    Attributes:
        lexical: The words' side, 0 to 1 among the candidates of the question.
        semantic: The meaning's side, likewise.
        judge: The language model's probability that the block answers; None if it was not asked
            or gave no verdict on this block.
        raw_lexical: BM25, 0 if no word of the question occurs.
        raw_semantic: Cosine, -1 to 1.
        tables: How many tables say this very text.
        weight: What share of the score that leaves; 1 where the text is the table's own.
    """

    lexical: float
    semantic: float
    judge: float | None
    raw_lexical: float
    raw_semantic: float
    tables: int = 1
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class TableResult:
    """One table of an answer, represented by its best block.

    Results are ordered best first. With the judge on, a table it refuses stands behind those it
    accepts whatever their scores.

    Attributes:
        table_id: The table.
        score: `weight * (alpha * lexical + (1 - alpha) * semantic)` of its best block, 0 to 1.
        parts: What the score consists of.
        kind: What the best block tells of the table: schema, rows or context.
        text: The passage of the block that has most to do with the question.
        block_text: The whole block.
        block_id: The block.
    """

    table_id: str
    score: float
    parts: ScoreParts
    kind: DocumentKind
    text: str
    block_text: str
    block_id: str

    def to_dict(self) -> dict[str, Any]:
        """Return the result for JSON: plain values, table and score first."""
        return asdict(self) | {"kind": str(self.kind)}
