"""Goes from the pairs of tables and datasheet questions to context questions, wave by wave."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pneuma_assets.core.progress import report
from pneuma_assets.core.terms.split_names import is_word
from pneuma_bench.generator.context_annotating import copies_of
from pneuma_bench.generator.context_pairs import Pairs
from pneuma_bench.generator.context_questions import Worded, own_names
from pneuma_bench.generator.context_stages import ContextSpec, Stages
from pneuma_bench.generator.contexts import Context
from pneuma_bench.generator.datasheet import DATASHEET
from pneuma_bench.generator.judging import why_no_question
from pneuma_bench.generator.pages import Pages
from pneuma_bench.generator.questions import Asked, Rejected, reasons
from pneuma_bench.generator.stratifying import draw_evenly
from pneuma_bench.sets import RetrievalSet

KIND = "context"


class ContextMaking:
    """Makes the questions of a spec, and keeps what was rejected.

    Attributes:
        rejected: Attempts that came to nothing.
        came: How many came to each stage.
    """

    def __init__(
        self, dataset: RetrievalSet, spec: ContextSpec, pages: Pages, stages: Stages
    ) -> None:
        self.rejected: list[Rejected] = []
        self.came: Counter[str] = Counter()
        self._dataset, self._spec, self._pages, self._stages = dataset, spec, pages, stages
        self._copies = copies_of(dataset)
        self._most = max(10, len(dataset.tables) // 20) if spec.answers is None else spec.answers
        self._pairs = Pairs(dataset, spec, pages)
        self._fit: dict[int, list[Context]] = {number: [] for number in self._pairs.numbers}
        self._given: Counter[int] = Counter()
        self._given_tables: Counter[str] = Counter()
        self._seen: set[str] = set()

    def questions(self) -> list[Asked]:
        """Return the questions that passed every stage: as many as wanted, or all there are."""
        asked: list[Asked] = []
        wanted = self._spec.questions
        while len(asked) < wanted and (self._pairs.are_left or any(self._fit.values())):
            self._make_contexts(wanted - len(asked))
            drawn = draw_evenly(
                self._fit, wanted - len(asked), _table_of, self._given, self._given_tables
            )
            for context in drawn:
                self._fit[context.pair.number].remove(context)
            asked += self._asked(drawn)
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

    def _make_contexts(self, wanted: int) -> None:
        """Make contexts of all pairs where that costs nothing, else of a few more."""
        made = self._stages.contexts.contexts(self._pairs.draw(wanted))
        made = [one for one in made if one.text or not self._spec.is_free]
        self.came["context"] += len(made)
        for context, reason in zip(made, self._stages.judge.reasons(made), strict=True):
            if reason:
                self._reject(context, "context", reason, _of(context))
            else:
                self._fit[context.pair.number].append(context)
        self._pairs.leave_barren({one for one in self._fit if self._fit[one] or self._given[one]})

    def _asked(self, drawn: Sequence[Context]) -> Iterator[Asked]:
        """Yield what comes of contexts, in their order."""
        worded = self._stages.wording.worded(drawn)
        self.came["question"] += len(worded)
        fit = [one for one in worded if self._is_fit(one)]
        self.came["annotation"] += len(fit)
        for one, others in zip(fit, self._stages.wording.others(fit), strict=True):
            table_id = one.context.pair.table_id
            if others is None:
                made = _how(one) | {"question": one.question}
                self._reject(one.context, "annotation", "own table not told", made)
                continue
            tables = dict.fromkeys([table_id, *self._copies.get(table_id, ()), *others])
            if len(tables) > self._most:
                made = _how(one) | {"question": one.question, "answers": len(tables)}
                self._reject(one.context, "annotation", "answered by too many tables", made)
                continue
            self._given[one.context.pair.number] += 1
            self._given_tables[table_id] += 1
            spelled = tuple(map(self._dataset.spelled, tables))
            yield Asked(one.question, spelled, KIND, _how(one))

    def _is_fit(self, one: Worded) -> bool:
        table_id = one.context.pair.table_id
        names = [name for name in own_names(self._dataset, table_id) if not is_word(name)]
        reason = one.reason or why_no_question(one.question, names)
        if not reason and one.question.casefold() in self._seen:
            reason = "asked before"
        if reason:
            self._reject(one.context, "question", reason, _how(one) | {"question": one.question})
            return False
        self._seen.add(one.question.casefold())
        return True

    def _reject(self, context: Context, stage: str, reason: str, made: Mapping[str, Any]) -> None:
        table = self._dataset.spelled(context.pair.table_id)
        self.rejected.append(Rejected(KIND, table, stage, reason, made))


def _table_of(context: Context) -> str:
    return context.pair.table_id


def _of(context: Context) -> dict[str, Any]:
    question = DATASHEET[context.pair.number - 1]
    made = {"datasheet": question.number, "section": question.section, "context": context.text}
    return made if context.problem is None else made | {"problem": context.problem}


def _how(one: Worded) -> dict[str, Any]:
    made = _of(one.context) | {"wording": "model" if one.draft else "template"}
    return made | ({"draft": one.draft} if one.draft else {})
