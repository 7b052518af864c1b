"""Makes context questions: what people wrote about a table (Pneuma, section 6.2)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import content_hash
from pneuma_assets.core.terms.split_names import is_word
from pneuma_bench.generator.context_wording import requested
from pneuma_bench.generator.contexts import (
    Context,
    Pair,
    extracted_context,
    why_no_context,
    why_no_question,
)
from pneuma_bench.generator.datasheet import DATASHEET
from pneuma_bench.generator.documents import Pages, Saying, copies_of
from pneuma_bench.generator.questions import Asked, Generated, Rejected, reasons
from pneuma_bench.keys import tables_key
from pneuma_bench.sets import RetrievalSet

T = TypeVar("T")


def draw_evenly(
    available: Mapping[int, Sequence[T]],
    wanted: int,
    table_of: Callable[[T], str],
    given: Counter[int],
    tables: Counter[str],
) -> list[T]:
    """Return so many, always one of the stratum that has given the fewest, and of the fewest table.

    What a stratum cannot give is given by the others in equal parts. The paper takes as many of
    each; where tables are described by people, some questions are answered of none.

    Args:
        available: What each stratum can give, in the order in which it is preferred; of strata that
            have given as much, the first one here gives.
        wanted: How many; fewer where there are no more.
        table_of: Tells whose it is.
        given: What each stratum has given before.
        tables: How often each table was drawn before.
    """
    left = {stratum: [*some] for stratum, some in available.items() if some}
    given, tables = given.copy(), tables.copy()
    drawn: list[T] = []
    while left and len(drawn) < wanted:
        stratum = min(left, key=lambda one: given[one])
        some = left[stratum]
        place = min(range(len(some)), key=lambda at: (tables[table_of(some[at])], at))
        drawn.append(some.pop(place))
        given[stratum] += 1
        tables[table_of(drawn[-1])] += 1
        if not some:
            del left[stratum]
    return drawn


KIND = "context"
_FORMAT = 3
"""Of what is made; another number tells that the same seed gives other questions."""


@dataclass(frozen=True, slots=True)
class ContextSpec:
    """How context questions are made.

    Attributes:
        questions: How many.
        seed: Decides which.
        answers: Most tables that may answer one; None: a twentieth of all, but ten.
    """

    questions: int = 300
    seed: int = 0
    answers: int | None = None


def context_questions(dataset: RetrievalSet, spec: ContextSpec, encoder: Encoder) -> Generated:
    """Make questions about what the documents of a set's tables say.

    A context answers one of the 51 questions of the datasheet for one table; a question asks for
    the table by it, in its words; other tables that answer are found. Contexts are drawn evenly
    over the 51 and over the tables. The same set and spec give the same questions.

    Args:
        dataset: The tables and their documents; its questions do not matter.
        spec: How many, and how.
        encoder: Tells how near texts are.

    Raises:
        BenchmarkError: These tables have no documents that say anything.
    """
    pages = Pages(dataset, encoder)
    making = _Making(dataset, spec, pages)
    asked = making.questions()
    if not making.came["context"]:
        raise BenchmarkError(
            f"nothing can be asked of the documents of {len(dataset.tables):,} tables; documents "
            "are the `contexts` of a table in the file"
        )
    manifest = {
        "format": _FORMAT,
        "set": dataset.name,
        "tables": len(dataset.tables),
        "tables_key": tables_key(dataset),
        "passages": len(pages.passages),
        "encoder": encoder.name,
        "spec": asdict(spec),
        "asked": len(asked),
        "by_datasheet": dict(sorted(Counter(one.made["datasheet"] for one in asked).items())),
        "stages": making.stages(),
    }
    return Generated(asked, making.rejected, manifest)


class _Making:
    """Makes the questions of a spec, and keeps what was rejected.

    Attributes:
        rejected: Attempts that came to nothing.
        came: How many came to each stage.
    """

    def __init__(self, dataset: RetrievalSet, spec: ContextSpec, pages: Pages) -> None:
        self.rejected: list[Rejected] = []
        self.came: Counter[str] = Counter()
        self._dataset, self._spec, self._pages = dataset, spec, pages
        self._copies = copies_of(dataset)
        self._saying = Saying(pages)
        self._most = max(10, len(dataset.tables) // 20) if spec.answers is None else spec.answers
        self._seen: set[str] = set()

    def questions(self) -> list[Asked]:
        """Return the questions that passed every stage: as many as wanted, or all there are."""
        fit, wanted = self._fit_contexts(), self._spec.questions
        given: Counter[int] = Counter()
        tables: Counter[str] = Counter()
        asked: list[Asked] = []
        while len(asked) < wanted and any(fit.values()):
            drawn = draw_evenly(
                fit, wanted - len(asked), lambda one: one.pair.table_id, given, tables
            )
            for context in drawn:
                fit[context.pair.number].remove(context)
            for context, question in self._asked(drawn):
                given[context.pair.number] += 1
                tables[context.pair.table_id] += 1
                asked.append(question)
            report("making context questions", len(asked), wanted)
        return asked

    def stages(self) -> dict[str, dict[str, Any]]:
        """Return of each stage how many came in, and how many it rejected for which reasons.

        Contexts that are fit and were not drawn came to the first one, and to no other.
        """
        lost: dict[str, list[Rejected]] = {stage: [] for stage in self.came}
        for one in self.rejected:
            lost[one.stage].append(one)
        return {
            stage: {"came": came, "rejected": len(lost[stage]), "reasons": reasons(lost[stage])}
            for stage, came in self.came.items()
        }

    def _fit_contexts(self) -> dict[int, list[Context]]:
        """Return what documents say to each question of the datasheet, in the seed's order."""
        seed, pages = str(self._spec.seed), self._pages
        ids = [table.table_id for table, _ in self._dataset.tables]
        numbers = sorted(
            (one.number for one in DATASHEET), key=lambda one: content_hash(seed, str(one))
        )
        contexts = [
            context
            for number in numbers
            for table_id in sorted(ids, key=lambda one: content_hash(seed, str(number), one))
            if (context := extracted_context(pages, Pair(table_id, number))).text
        ]
        self.came["context"] += len(contexts)
        texts = [*dict.fromkeys(one.text for one in contexts)]
        near = dict(zip(texts, pages.nearness(pages.embedded(texts)), strict=True))
        fit: dict[int, list[Context]] = {number: [] for number in numbers}
        for context in contexts:
            if reason := why_no_context(context, near[context.text][context.pair.number - 1]):
                self._reject(context, "context", reason)
            else:
                fit[context.pair.number].append(context)
        return fit

    def _asked(self, drawn: Sequence[Context]) -> Iterator[tuple[Context, Asked]]:
        """Yield what comes of contexts, in their order."""
        for context in drawn:
            table_id = context.pair.table_id
            names = _own_names(self._dataset, table_id)
            question = requested(
                context.sentence, self._pages.common, frozenset(map(str.casefold, names))
            )
            self.came["question"] += 1
            reason = why_no_question(question, [name for name in names if not is_word(name)])
            if not reason and question.casefold() in self._seen:
                reason = "asked before"
            if reason:
                self._reject(context, "question", reason, question=question, **_WORDED)
                continue
            self._seen.add(question.casefold())
            self.came["annotation"] += 1
            others = self._saying.others(context.sentence, table_id)
            tables = dict.fromkeys([table_id, *self._copies.get(table_id, ()), *others])
            if len(tables) > self._most:
                reason, found = "answered by too many tables", {"answers": len(tables), **_WORDED}
                self._reject(context, "annotation", reason, question=question, **found)
                continue
            spelled = tuple(map(self._dataset.spelled, tables))
            yield context, Asked(question, spelled, KIND, _of(context) | _WORDED)

    def _reject(self, context: Context, stage: str, reason: str, **made: Any) -> None:
        table = self._dataset.spelled(context.pair.table_id)
        self.rejected.append(Rejected(KIND, table, stage, reason, _of(context) | made))


_WORDED: dict[str, Any] = {"wording": "template"}


def _of(context: Context) -> dict[str, Any]:
    question = DATASHEET[context.pair.number - 1]
    return {"datasheet": question.number, "section": question.section, "context": context.text}


def _own_names(dataset: RetrievalSet, table_id: str) -> tuple[str, str]:
    """Return what a table is called, and its id as the set's files have it, without folders."""
    name = dataset.names.get(table_id, ("",))[-1]
    return name, dataset.spelled(table_id).rpartition("/")[2]
