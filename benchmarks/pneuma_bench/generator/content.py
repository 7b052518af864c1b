"""Makes content questions: what rows of a table say (Pneuma, section 6.1)."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.progress import report
from pneuma_bench.generator.annotating import Annotator, copies_of
from pneuma_bench.generator.drawing import draw_query
from pneuma_bench.generator.executing import Workbench
from pneuma_bench.generator.prompts import LONGEST, VERSION
from pneuma_bench.generator.queries import Subject, subjects_of
from pneuma_bench.generator.questions import Asked, Draft, Generated, Rejected, Spec, stages
from pneuma_bench.generator.rewording import Asker, reworded
from pneuma_bench.generator.wording import worded
from pneuma_bench.keys import chance_of, tables_key
from pneuma_bench.sets import RetrievalSet

_DRAWN, _REWORDED, _LAST = (
    ("execution", "annotation"),
    ("rewriting", "words", "cycle"),
    ("repetition",),
)
"""The stages through which an attempt goes, as far as it comes."""
_ATTEMPTS = 8
"""How often a table is tried for one question, and after how many turns without one it leaves."""
_FORMAT = 6
"""Of what is made; another number tells that the same seed gives other questions."""


def content_questions(dataset: RetrievalSet, spec: Spec, asker: Asker | None = None) -> Generated:
    """Make questions about the tables of a set, as evenly as they can be asked about.

    A query is drawn, run on all rows, and run on every other table that has such columns: those
    that answer it, too, are answers. Then it is worded, by a template or by a model; what a model
    words is kept if it leads back to the query. The same set, spec and answers of the model give
    the same questions.

    Without an `asker`, the template's words are the questions.

    Raises:
        BenchmarkError: No query can be made of these tables, or answers cannot be kept. Where no
            attempt passes all stages, there are rejected ones alone.
        ModelError: The model is missing or fails.
    """
    subjects = subjects_of(dataset)
    order = [*subjects]
    chance_of(spec.seed, "order").shuffle(order)
    with Workbench() as bench:
        annotator = Annotator(subjects, bench, copies_of(dataset), described=spec.described)
        maker = _Maker(dataset, spec, bench, annotator, asker, [*map(_Turn, order)])
        made = [*maker.made()]
    if not made:
        raise BenchmarkError(
            f"none of {len(subjects):,} tables can be asked about; they need named columns and rows"
        )
    asked = [one for one in made if isinstance(one, Asked)]
    rejected = [one for one in made if isinstance(one, Rejected)]
    came, left = {}, len(made)
    for stage in (*_DRAWN, *(_REWORDED if asker else ()), *_LAST):
        came[stage] = left
        left -= sum(one.stage == stage for one in rejected)
    manifest = {
        "format": _FORMAT,
        "set": dataset.name,
        "tables": len(dataset.tables),
        "tables_key": tables_key(dataset),
        "model": asker and asker.model.name,
        "prompts": asker and VERSION,
        "spec": asdict(spec),
        "asked": len(asked),
        "stages": stages(came, rejected),
    }
    return Generated(asked, rejected, manifest)


@dataclass(eq=False, slots=True)
class _Turn:
    """A table, how many questions and turns it has had, turns since the last one, and drafts."""

    subject: Subject
    asked: int = 0
    tried: int = 0
    fruitless: int = 0
    drawn: int = 0


@dataclass
class _Maker:
    """Goes in waves: all tables whose turn it is are drafted, and the model is asked of all.

    Every table has as many questions as any other, as far as it can have them.
    """

    dataset: RetrievalSet
    spec: Spec
    bench: Workbench
    annotator: Annotator
    asker: Asker | None
    turns: list[_Turn]
    seen: set[str] = field(default_factory=set)

    def made(self) -> Iterator[Asked | Rejected]:
        """Yield what becomes of each attempt, until there are enough questions."""
        while self.turns and (wanted := self.spec.questions - len(self.seen)) > 0:
            drafts: list[tuple[_Turn, Draft]] = []
            for turn in sorted(self.turns, key=lambda one: (one.asked, one.tried))[:wanted]:
                for one in self._drafted(turn):
                    if isinstance(one, Draft):
                        drafts.append((turn, one))
                    else:
                        yield one
            worded_ones: Sequence[Draft | Rejected] = [draft for _, draft in drafts]
            if self.asker is not None:
                worded_ones = reworded([draft for _, draft in drafts], self.asker)
            for (turn, _), outcome in zip(drafts, worded_ones, strict=True):
                made = self._new(outcome) if isinstance(outcome, Draft) else outcome
                self._end(turn, fruitful=isinstance(made, Asked))
                report("making questions", len(self.seen), self.spec.questions)
                yield made

    def _end(self, turn: _Turn, *, fruitful: bool) -> None:
        turn.tried += 1
        turn.asked += fruitful
        turn.fruitless = 0 if fruitful else turn.fruitless + 1
        if turn.fruitless >= _ATTEMPTS:
            self.turns.remove(turn)

    def _drafted(self, turn: _Turn) -> Iterator[Draft | Rejected]:
        """Yield a table's attempts until one is a draft; a table of which none comes leaves."""
        for _ in range(_ATTEMPTS):
            one = self._draft(turn.subject, turn.drawn)
            turn.drawn += 1
            if one is None:
                break
            yield one
            if isinstance(one, Draft):
                return
        self.turns.remove(turn)

    def _draft(self, subject: Subject, number: int) -> Draft | Rejected | None:
        """Return the table's draft of this number, or why it is none; None: none can be drawn.

        A draft depends on the seed, the table and its number, and on nothing before.
        """
        query = draw_query(subject, chance_of(self.spec.seed, subject.table_id, number))
        if query is None:
            return None
        own = self.dataset.spelled(subject.table_id)
        made = {"sql": query.sql(subject.columns), "wording": "template"}
        question = worded(query, subject, described=self.spec.described)
        draft = Draft(subject, query, (own,), question, made)
        if reason := self.bench.why_not(subject, query):
            return draft.rejected("execution", reason)
        tables = self.annotator.tables_that_answer(query, subject)
        if len(tables) > self.spec.most_answers(len(self.dataset.tables)):
            reason = "answered by too many tables"
            return draft.rejected("annotation", reason, answers=len(tables))
        return replace(draft, tables=tuple(map(self.dataset.spelled, tables)))

    def _new(self, one: Draft) -> Asked | Rejected:
        if len(one.question) > LONGEST:
            return one.rejected("repetition", "too long")
        if one.question.casefold() in self.seen:
            return one.rejected("repetition", "asked before")
        self.seen.add(one.question.casefold())
        return one.asked()
