"""What may be asked, and what an answer consists of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypeVar

from pydantic import ValidationError

from pneuma_assets.core.access_names import names_of_asker
from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.relations.families import Family
from pneuma_assets.core.search.paraphrases import Match, rejected_tables
from pneuma_assets.core.tables import DocumentKind
from pneuma_assets.core.text.safe import well_formed
from pneuma_assets.core.text.suggest import check_names, check_text

Question = TypeVar("Question", str, str | None)

MOST_CHARACTERS = 10_000
"""Of a question. A longer one is refused: cut, it would silently become another question."""

MOST_CANDIDATES = 10_000
"""Blocks asked of each side, k times n."""

_DIGITS = 6


def checked_question(question: str) -> str:
    """Return the question without surrounding whitespace and malformed characters.

    Raises:
        QueryError: It is no text, empty, or too long.
    """
    check_text("the question", question, QueryError)
    if len(question) > MOST_CHARACTERS:
        raise QueryError(
            f"The question has {len(question):,} characters; ask in at most {MOST_CHARACTERS:,}"
        )
    cleaned = well_formed(question).strip()
    if not any(character.isalnum() for character in cleaned):
        raise QueryError(
            "The question has no words; ask in some, such as 'sales by region in 2020'"
        )
    return cleaned


def listed(questions: Iterable[Question]) -> list[Question]:
    """Return several questions as a list, whatever they are.

    Raises:
        QueryError: They are one text, which would be a question a letter, or cannot be listed.
    """
    if isinstance(questions, str | bytes) or not isinstance(questions, Iterable):
        raise QueryError(f"questions must be a list of str, not {type(questions).__name__}")
    return list(questions)


def check_judge(judge: bool | None) -> None:
    """Raise `QueryError` unless it is said, or left open, whether to ask the judge."""
    if judge is not None and not isinstance(judge, bool):
        raise QueryError(f"judge must be True, False or None, not {judge!r}")


def check_tau(tau: float | None) -> None:
    """Raise `QueryError` unless it is left open, or from 0 to 1, how near to the best is enough."""
    if tau is None:
        return
    if isinstance(tau, bool) or not isinstance(tau, int | float) or not 0.0 <= tau <= 1.0:
        raise QueryError(f"tau must be a number from 0.0 to 1.0, not {tau!r}")


def check_filter(where: IndexFilter) -> None:
    """Raise `QueryError` unless this is a filter of names."""
    if not isinstance(where, IndexFilter):
        raise QueryError(f"where must be an IndexFilter, not {type(where).__name__}")
    for part in fields(where):
        names = getattr(where, part.name)
        if names is not None or part.name != "readers":
            check_names(f"{part.name} of a filter", names, QueryError)


def as_asked(where: IndexFilter) -> IndexFilter:
    """Return a filter with all names of who asks (`core.access_names`).

    Raises:
        QueryError: One of them is none.
    """
    if where.readers is None:
        return where
    return replace(where, readers=names_of_asker(where.readers))


def checked_options(
    defaults: QueryOptions, k: int | None, n: int | None, alpha: float | None
) -> QueryOptions:
    """Return the defaults with what was asked for in place.

    Raises:
        QueryError: A value is out of range.
    """
    given = {"k": k, "n": n, "alpha": alpha}
    changes = {key: value for key, value in given.items() if value is not None}
    try:
        options = QueryOptions.model_validate(defaults.model_dump() | changes, strict=True)
    except ValidationError as error:
        key = str(error.errors()[0]["loc"][0])
        raise QueryError(f"{key} must be {_range(key)}, not {given[key]!r}") from error
    if options.k * options.n > MOST_CANDIDATES:
        raise QueryError(
            f"k times n must be at most {MOST_CANDIDATES:,}, not {options.k * options.n:,}"
        )
    return options


def _range(key: str) -> str:
    """Describe the values that `QueryOptions` allows, such as 'a whole number from 1 to 100'."""
    field = QueryOptions.model_fields[key]
    bounds: dict[str, Any] = {}
    for limit in field.metadata:
        bounds |= {name: getattr(limit, name) for name in ("ge", "le") if hasattr(limit, name)}
    what = "a whole number" if field.annotation is int else "a number"
    return f"{what} from {bounds['ge']} to {bounds['le']}"


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """Where a score comes from.

    Attributes:
        lexical: What the words say, 0 to 1 among the candidates of the question: the words' side,
            or the sum of the signals of words, each as it is weighted.
        semantic: What the meaning says, likewise.
        judge: The grade that the language model gives the table: 1 answers the question, 2/3 a part
            of it, 1/3 is of the same subject only, 0 has nothing to do with it. None if it was not
            asked, or gave no verdict on this table.
        raw_lexical: BM25, 0 if no word of the question occurs.
        raw_semantic: Cosine, -1 to 1.
        tables: How many tables say this very text.
        weight: What share of the score that leaves; 1 where the text is the table's own.
        signals: What each signal adds to the score; empty where the two sides alone were asked.
        named: The name that was typed in and is the table's, or a column's of it; None if none is.
        trust: What the table loses for being less trusted than the most trusted candidate, whatever
            the question: 0 or less. None of the other parts holds it.
        reason: Why the language model gives that grade, in its words; empty without one.
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
    reason: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether the judge says that the table has nothing to do with the question."""
        return self.judge == 0


@dataclass(frozen=True, slots=True)
class TableResult:
    """One table of an answer, with what of it matched.

    Results are ordered best first. A table whose name was typed in stands before all others; with
    the judge on, those that it read stand by its grades, and one that it refuses at the end,
    whatever their scores, as does one that somebody rejected for such a question. A table
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
        family: The tables of other years, days, regions or numbers that it stands for; likewise.
        rejected: Whether somebody said that it does not answer such a question.
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
    family: Family | None = None
    rejected: bool = False

    @property
    def is_behind(self) -> bool:
        """Whether the judge, or a person, has refused it."""
        return self.rejected or self.parts.is_refused

    @property
    def tables(self) -> tuple[str, ...]:
        """All tables that the result names as an answer, itself first."""
        return (self.table_id, *self.copies, *(self.family.members if self.family else ()))

    def to_dict(self) -> dict[str, Any]:
        """Return the result for JSON: plain values, table and score first."""
        told: dict[str, Any] = rounded(asdict(self))
        return told | {"kind": str(self.kind)}


def descending(results: Sequence[TableResult]) -> list[TableResult]:
    """Return results, each with at least the score and the confidence of those behind it.

    One that stands before a better one for its name or a join, as the original of a copy, or by the
    judge's grade, is as good.
    """
    return _ordered(results[::-1], max)[::-1]


def no_better(results: Sequence[TableResult]) -> list[TableResult]:
    """Return results, each with at most the score and the confidence of those before it."""
    return _ordered(results, min)


def _ordered(
    results: Sequence[TableResult], which: Callable[[float, float], float]
) -> list[TableResult]:
    found: list[TableResult] = []
    for one in results:
        last = found[-1] if found else one
        sure = one.confidence
        if sure is not None and last.confidence is not None:
            sure = which(sure, last.confidence)
        found.append(replace(one, score=which(one.score, last.score), confidence=sure))
    return found


def rounded(value: Any) -> Any:
    """Return what JSON tells, its numbers without the digits that only rounding errors fill."""
    if isinstance(value, Mapping):
        return {key: rounded(one) for key, one in value.items()}
    return round(value, _DIGITS) + 0.0 if isinstance(value, float) else value  # no -0.0


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to one question, and what was read to tell it.

    Attributes:
        results: The tables, best first.
        headers: Of each table that was looked at the words of the question that stand in its name
            or in a column's (`TableScores.headers`).
        remembered: What people said of answers to such questions, the most similar question first.
    """

    results: list[TableResult]
    headers: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    remembered: Sequence[Match] = ()


def with_verdicts(found: Found, remembered: Sequence[Match], k: int) -> Found:
    """Return the first `k` tables, those that somebody rejected for such a question at the end.

    Both parts keep their order, and no table is better than one before it.

    Args:
        found: With as many more tables as are rejected.
        remembered: What people said of answers to such questions.
        k: Most tables.
    """
    rejected, results = rejected_tables(remembered), found.results
    if rejected:
        marked = [replace(one, rejected=one.table_id in rejected) for one in results]
        results = no_better(sorted(marked, key=lambda one: one.is_behind))
    return replace(found, results=results[:k], remembered=remembered)


TAU = 0.9
"""Where nobody says: F1 is highest with it on three sets of questions (docs/measurements.md)."""
AMONG = 30
"""Tables among which scores are scaled, so that it does not depend on how many are wanted."""


def relative_cutoff(results: Sequence[TableResult], tau: float) -> list[TableResult]:
    """Return the tables that a question needs, their order kept.

    What stands before one that stays, stays, too: its name was typed in, or it stands in the place
    of its copies. What the judge or a person refuses goes, unless all are refused.

    Args:
        results: Of one question, best first.
        tau: From 0, which leaves all, to 1, which leaves the best alone.
    """
    accepted = [one for one in results if not one.is_behind] or results
    kept = reaching([one.score for one in accepted], tau)
    last = max((place for place, keep in enumerate(kept) if keep), default=-1)
    return list(accepted[: last + 1])


def scaled(scores: Sequence[float]) -> list[float]:
    """Return the scores of one question's candidates from 0, the lowest, to 1, the highest.

    Where all are alike each is 1: none is less of an answer than another.
    """
    lowest, highest = min(scores, default=0.0), max(scores, default=0.0)
    span = highest - lowest
    return [(score - lowest) / span if span > 0 else 1.0 for score in scores]


def reaching(scores: Sequence[float], tau: float) -> list[bool]:
    """Tell of each candidate whether its scaled score is at least tau, 0 to 1."""
    return [score >= tau for score in scaled(scores)]
