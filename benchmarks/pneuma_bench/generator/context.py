"""Makes context questions: what people wrote about a table (Pneuma, section 6.2)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import content_hash
from pneuma_assets.core.terms.split_names import is_word
from pneuma_bench.generator.annotating import copies_of
from pneuma_bench.generator.contexts import (
    Context,
    extracted_context,
    requested,
    why_no_context,
    why_no_question,
)
from pneuma_bench.generator.datasheet import DATASHEET
from pneuma_bench.generator.documents import Pages, Saying
from pneuma_bench.generator.questions import Asked, Generated, Rejected, Spec, stages
from pneuma_bench.keys import tables_key
from pneuma_bench.sets import RetrievalSet

_FORMAT = 3
"""Of what is made; another number tells that the same seed gives other questions."""


def draw_evenly(
    available: Mapping[int, Sequence[Context]],
    wanted: int,
    given: Counter[int],
    tables: Counter[str],
) -> list[Context]:
    """Return so many, always of the question, and of the table, that have given the fewest.

    What a question cannot give is given by the others in equal parts. The paper takes as many of
    each; where tables are described by people, some questions are answered of none.

    `given` and `tables` are what questions and tables have given before; of questions that have
    given as much, the first one in `available` gives.
    """
    left = {number: [*some] for number, some in available.items() if some}
    given, tables = given.copy(), tables.copy()
    drawn: list[Context] = []
    while left and len(drawn) < wanted:
        number = min(left, key=given.__getitem__)
        drawn.append(one := min(left[number], key=lambda one: tables[one.table_id]))
        left[number].remove(one)
        given[number] += 1
        tables[one.table_id] += 1
        if not left[number]:
            del left[number]
    return drawn


def context_questions(dataset: RetrievalSet, spec: Spec, encoder: Encoder) -> Generated:
    """Make questions about what the documents of a set's tables say.

    A context answers one of the 51 questions of the datasheet for one table; a question asks for
    the table by it, in its words; other tables that answer are found. Contexts are drawn evenly
    over the 51 and over the tables. The same set and spec give the same questions.

    Raises:
        BenchmarkError: These tables have no documents that say anything.
    """
    making = _Making(dataset, spec, Pages(dataset, encoder))
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
        "passages": len(making.pages.passages),
        "encoder": encoder.name,
        "spec": asdict(spec),
        "asked": len(asked),
        "by_datasheet": dict(sorted(Counter(one.made["datasheet"] for one in asked).items())),
        "stages": stages(making.came, making.rejected),
    }
    return Generated(asked, making.rejected, manifest)


class _Making:
    """Makes the questions of a spec; keeps what was rejected, and how many came to each stage.

    Contexts that are fit and were not drawn came to the first stage, and to no other.
    """

    def __init__(self, dataset: RetrievalSet, spec: Spec, pages: Pages) -> None:
        self.rejected: list[Rejected] = []
        self.came: Counter[str] = Counter()
        self.pages, self._dataset, self._spec = pages, dataset, spec
        self._copies, self._saying = copies_of(dataset), Saying(pages.passages)
        self._seen: set[str] = set()

    def questions(self) -> list[Asked]:
        """Return the questions that passed every stage: as many as wanted, or all there are."""
        fit, wanted = self._fit_contexts(), self._spec.questions
        given: Counter[int] = Counter()
        tables: Counter[str] = Counter()
        asked: list[Asked] = []
        while len(asked) < wanted and any(fit.values()):
            drawn = draw_evenly(fit, wanted - len(asked), given, tables)
            for context in drawn:
                fit[context.number].remove(context)
            for context, question in self._asked(drawn):
                given[context.number] += 1
                tables[context.table_id] += 1
                asked.append(question)
            report("making context questions", len(asked), wanted)
        return asked

    def _fit_contexts(self) -> dict[int, list[Context]]:
        """Return what documents say to each question of the datasheet, in the seed's order."""
        seed = str(self._spec.seed)
        ids = [table.table_id for table, _ in self._dataset.tables]
        numbers = sorted(range(1, len(DATASHEET) + 1), key=lambda n: content_hash(seed, str(n)))
        found = (
            extracted_context(self.pages, table_id, number)
            for number in numbers
            for table_id in sorted(ids, key=lambda one: content_hash(seed, str(number), one))
        )
        contexts = [one for one in found if one]
        self.came["context"] += len(contexts)
        texts = [*dict.fromkeys(one.text for one in contexts)]
        near = dict(zip(texts, self.pages.nearness(texts), strict=True))
        fit: dict[int, list[Context]] = {number: [] for number in numbers}
        for context in contexts:
            if reason := why_no_context(context, near[context.text][context.number - 1]):
                self._reject(context, "context", reason)
            else:
                fit[context.number].append(context)
        return fit

    def _asked(self, drawn: Sequence[Context]) -> Iterator[tuple[Context, Asked]]:
        """Yield what comes of contexts, in their order."""
        for context in drawn:
            table_id = context.table_id
            name = self._dataset.names.get(table_id, ("",))[-1]
            names = name, self._dataset.spelled(table_id).rpartition("/")[2]
            folded = frozenset(map(str.casefold, names))
            question = requested(context.sentence, self.pages.common, folded)
            made = {"wording": "template"}
            self.came["question"] += 1
            reason = why_no_question(question, [name for name in names if not is_word(name)])
            if not reason and question.casefold() in self._seen:
                reason = "asked before"
            if reason:
                self._reject(context, "question", reason, question=question, **made)
                continue
            self._seen.add(question.casefold())
            self.came["annotation"] += 1
            others = self._saying.others(context.sentence, table_id)
            tables = dict.fromkeys([table_id, *self._copies.get(table_id, ()), *others])
            if len(tables) > self._spec.most_answers(len(self._dataset.tables)):
                found = {"question": question, "answers": len(tables)}
                reason = "answered by too many tables"
                self._reject(context, "annotation", reason, **found, **made)
                continue
            spelled = tuple(map(self._dataset.spelled, tables))
            yield context, Asked(question, spelled, "context", _of(context) | made)

    def _reject(self, context: Context, stage: str, reason: str, **made: Any) -> None:
        table = self._dataset.spelled(context.table_id)
        self.rejected.append(Rejected("context", table, stage, reason, _of(context) | made))


def _of(context: Context) -> dict[str, Any]:
    section = DATASHEET[context.number - 1].section
    return {"datasheet": context.number, "section": section, "context": context.text}
