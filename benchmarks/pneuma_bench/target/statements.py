"""Makes statements about tables, half of them false, to verify facts where no labels are at hand.

TARGET takes TabFact's statements, which people wrote (section 3.3). These are made: a query of
Pneuma's template (section 6.1.1) that gives one value is run, and its words become a statement,
with this value or another one. Nobody should call them TabFact's.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.progress import report
from pneuma_assets.core.text.safe import one_line
from pneuma_bench.chance import chance_of
from pneuma_bench.files import whole
from pneuma_bench.generator.annotating import Annotator
from pneuma_bench.generator.drawing import Chances, draw_query
from pneuma_bench.generator.executing import Workbench
from pneuma_bench.generator.queries import SqlQuery
from pneuma_bench.generator.subjects import Subject, Value, subjects_of
from pneuma_bench.generator.wording import worded
from pneuma_bench.sets import RetrievalSet

KIND = "statement"
LONGEST = 300
"""Characters of a statement."""

_CHANCES = Chances(
    group_by=0, second=0, order=0.4, plain=(0, 0.5, 0.5), other=(0, 0.5, 0.5), limits=(1,)
)
"""One value of one column, under a condition or in an order."""
_ATTEMPTS = 12
"""Of a table, for one statement."""
_OF_ONE = ("of the 1 rows with", "of the row with")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement about a table.

    Attributes:
        text: In plain English.
        is_true: Whether the table says so.
        tables: Ids of the tables by which it can be told, as the set's files have them; the one it
            was made of comes first. By all of them it is the same.
        sql: The query whose result it states.
        value: What that is.
    """

    text: str
    is_true: bool
    tables: tuple[str, ...]
    sql: str
    value: str


def statements_about(dataset: RetrievalSet, wanted: int, seed: int = 0) -> list[Statement]:
    """Return statements about the tables of a set, true and false ones in turn.

    Tables are taken in turn, in an order that the seed decides. The same set, number and seed give
    the same statements; there are fewer where the tables give no more.

    Args:
        dataset: The tables; its questions do not matter.
        wanted: How many.
        seed: Decides which.

    Raises:
        BenchmarkError: Nothing can be stated of these tables.
    """
    subjects = subjects_of(dataset)
    made: list[Statement] = []
    with Workbench() as bench:
        maker = _Maker(dataset, bench, Annotator(subjects, bench), seed)
        for one in maker.statements(subjects):
            made.append(one)
            report("making statements", len(made), wanted)
            if len(made) == wanted:
                break
    if not made:
        raise BenchmarkError(
            f"nothing can be stated of {len(subjects):,} tables; they need named columns and rows"
        )
    return made


def write_statements(path: Path, statements: Sequence[Statement]) -> None:
    """Write statements as questions whose `answer` is `True` or `False`, a JSON object a line.

    Raises:
        BenchmarkError: The file cannot be written.
    """
    with whole(path) as stream:
        for number, one in enumerate(statements, start=1):
            record = {
                "question": one.text,
                "tables": list(one.tables),
                "kind": KIND,
                "id": f"{KIND}-{number:04}",
                "answer": str(one.is_true),
                "made": {"sql": one.sql, "value": one.value},
            }
            line = json.dumps(record, ensure_ascii=False) + "\n"
            stream.write(line.encode("utf-8", "replace"))


class _Maker:
    def __init__(
        self, dataset: RetrievalSet, bench: Workbench, annotator: Annotator, seed: int
    ) -> None:
        self._dataset, self._bench, self._annotator, self._seed = dataset, bench, annotator, seed
        self._seen: set[str] = set()

    def statements(self, subjects: Sequence[Subject]) -> Iterator[Statement]:
        """Yield statements, one a table in turn; a table of which nothing comes is left."""
        left = list(subjects)
        chance_of(self._seed, "order").shuffle(left)
        number, is_true = 0, True
        while left:
            fruitful = []
            for subject in left:
                one = self._statement(subject, number, is_true=is_true)
                if one is not None:
                    yield one
                    fruitful.append(subject)
                    is_true = not is_true
            left, number = fruitful, number + 1

    def _statement(self, subject: Subject, number: int, *, is_true: bool) -> Statement | None:
        for attempt in range(_ATTEMPTS):
            chance = chance_of(self._seed, subject.table_id, number, attempt)
            query = draw_query(subject, chance, _CHANCES)
            if query is None:
                return None
            said = self._said(subject, query, chance, is_true=is_true)
            if said is not None and said.text.casefold() not in self._seen:
                self._seen.add(said.text.casefold())
                return said
        return None

    def _said(
        self, subject: Subject, query: SqlQuery, chance: random.Random, *, is_true: bool
    ) -> Statement | None:
        """Return what a query's result says; None where it is not one value in all tables."""
        if not (query.where or query.order) or self._bench.why_not(subject, query):
            return None
        right = self._only(subject, query)
        if right is None:
            return None
        told = _shown(right) if is_true else self._other(subject, query, _shown(right), chance)
        _, verb, words = worded(query, subject).removesuffix("?").split(" ", 2)  # What is the ...
        text = f"{words[0].upper()}{words[1:]} {verb} {told}.".replace(*_OF_ONE)
        tables = self._tables(query, subject, right)
        if not told or len(text) > LONGEST or not tables:
            return None
        spelled = tuple(map(self._dataset.spelled, tables))
        return Statement(text, is_true, spelled, query.sql(subject.columns), _shown(right))

    def _only(self, subject: Subject, query: SqlQuery) -> Value | None:
        """Return the one value that a query gives; None where it gives none, or several."""
        values = {*chain.from_iterable(self._bench.rows(subject, query))}
        (value,) = values if len(values) == 1 else (None,)
        return value

    def _other(self, subject: Subject, query: SqlQuery, right: str, chance: random.Random) -> str:
        """Return a value that is not right, of another row or of all; empty if there is none."""
        (asked,) = query.select
        if asked.aggregate in ("AVG", "SUM"):
            every = self._only(subject, SqlQuery(query.select))
            values = [every]
        else:
            values = [row[asked.column] for row in subject.rows]
        shown = {_shown(one) for one in values if one is not None}
        wrong = sorted(one for one in shown if one.casefold() != right.casefold())
        return chance.choice(wrong) if wrong else ""

    def _tables(self, query: SqlQuery, subject: Subject, right: Value) -> tuple[str, ...]:
        """Return all tables that say the same; none where another one says something else."""
        found = [subject.table_id]
        for other, moved in self._annotator.elsewhere(query, subject):
            if self._bench.answers(other, moved):
                if self._only(other, moved) != right:
                    return ()
                found.append(other.table_id)
        return tuple(found)


def _shown(value: Value) -> str:
    """Return a value as a person writes it: with two decimals, no point after a whole number."""
    if isinstance(value, str):
        return one_line(value)
    return f"{value:.15g}" if abs(value) < 1 else f"{round(value, 2):.15g}"
