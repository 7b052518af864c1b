"""What an answer consists of: a table, why it was found, and the text that matched."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pneuma_assets.core.tables import DocumentKind, TableTerms


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """Where a score comes from.

    Attributes:
        lexical: What the words say, 0 to 1 among the candidates of the question: the words' side,
            or the sum of the signals of words, each as it is weighted.
        semantic: What the meaning says, likewise.
        judge: The language model's probability that the block answers; None if it was not asked
            or gave no verdict on this block.
        raw_lexical: BM25, 0 if no word of the question occurs.
        raw_semantic: Cosine, -1 to 1.
        tables: How many tables say this very text.
        weight: What share of the score that leaves; 1 where the text is the table's own.
        signals: What each signal adds to the score; empty where the two sides alone were asked.
        named: The name that was typed in and is the table's, or a column's of it; None if none is.
        trust: What the table loses for being less trusted than the most trusted candidate, whatever
            the question: 0 or less. None of the other parts holds it.
    """

    lexical: float
    semantic: float
    judge: float | None
    raw_lexical: float
    raw_semantic: float
    tables: int = 1
    weight: float = 1.0
    signals: Mapping[str, float] = field(default_factory=dict)
    named: str | None = None
    trust: float = 0.0


@dataclass(frozen=True, slots=True)
class TableResult:
    """One table of an answer, with what of it matched.

    Results are ordered best first. A table whose name was typed in stands before all others; with
    the judge on, one that it refuses stands behind those it accepts, whatever their scores. A table
    of which there are copies stands where the best of them would, and before what its name calls a
    backup, a test or an old version of it.

    Attributes:
        table_id: The table.
        score: The sum of its signals and of `parts.trust`, 0 to 1; where `alpha` was given,
            `weight * (alpha * lexical + (1 - alpha) * semantic)` of its best block.
        parts: What the score consists of.
        kind: What `text` is of: schema, rows, context; values for a row that was not sampled.
        text: The passage that has most to do with the question.
        block_text: The whole of its best block; empty if it has none.
        block_id: The block.
        columns: The columns whose names the question names, by signals only.
        confidence: The probability that this table answers, 0 to 1; None where `alpha` was given.
        answerable: The probability that any table does, the same for all of an answer; likewise.
        copies: Tables that hold the same, nearly, and are no results of their own; by signals only.
    """

    table_id: str
    score: float
    parts: ScoreParts
    kind: DocumentKind
    text: str
    block_text: str
    block_id: str
    columns: tuple[str, ...] = ()
    confidence: float | None = None
    answerable: float | None = None
    copies: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result for JSON: plain values, table and score first."""
        return asdict(self) | {"kind": str(self.kind)}


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to one question, and what was read to tell it.

    Attributes:
        results: The tables, best first.
        evidence: Names and columns of tables that were looked at, by id; of their cells nothing,
            and of their rows at most the best one.
    """

    results: list[TableResult]
    evidence: Mapping[str, TableTerms] = field(default_factory=dict)
