"""Makes content questions: what rows of a table say (Pneuma, section 6.1)."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.progress import report
from pneuma_bench.generator.annotating import Annotator
from pneuma_bench.generator.drafting import Draft, Drafting
from pneuma_bench.generator.drawing import Chances
from pneuma_bench.generator.executing import Workbench
from pneuma_bench.generator.prompts import LONGEST, VERSION
from pneuma_bench.generator.queries import Subject, subjects_of
from pneuma_bench.generator.questions import Asked, Generated, Rejected, stages
from pneuma_bench.generator.rewording import Asker, Outcome, reworded
from pneuma_bench.keys import chance_of, tables_key
from pneuma_bench.sets import RetrievalSet


@dataclass(eq=False, slots=True)
class Turn:
    """A table and what came of it so far.

    Attributes:
        subject: The table.
        asked: Questions that it has.
        tried: Turns that it had.
        fruitless: Turns since its last question.
        drawn: Queries that were drawn of it.
    """

    subject: Subject
    asked: int = 0
    tried: int = 0
    fruitless: int = 0
    drawn: int = 0


class Turns:
    """Gives every table as many questions as any other, as far as it can have them.

    Args:
        subjects: The tables, in the order of their first turns.
        attempts: After so many turns in a row without a question a table leaves.
    """

    def __init__(self, subjects: Sequence[Subject], attempts: int) -> None:
        self._left = [*map(Turn, subjects)]
        self._attempts = attempts

    def next(self, wanted: int) -> list[Turn]:
        """Return those who were asked about least, and of these who were tried least."""
        return sorted(self._left, key=lambda one: (one.asked, one.tried))[:wanted]

    def end(self, turn: Turn, *, fruitful: bool) -> None:
        """End a turn, which gave a question or not."""
        turn.tried += 1
        turn.asked += fruitful
        turn.fruitless = 0 if fruitful else turn.fruitless + 1
        if turn.fruitless >= self._attempts:
            self.leave(turn)

    def leave(self, turn: Turn) -> None:
        """Give a table no turn again."""
        self._left.remove(turn)


DRAWN, REWORDED, LAST = (
    ("execution", "annotation"),
    ("rewriting", "words", "cycle"),
    ("repetition",),
)
"""The stages through which an attempt goes, as far as it comes."""
_FORMAT = 5
"""Of what is made; another number tells that the same seed gives other questions."""


@dataclass(frozen=True, slots=True)
class ContentSpec:
    """How content questions are made.

    Attributes:
        questions: How many.
        seed: Decides which.
        attempts: How often a table is tried for one question.
        answers: Most tables that may answer one; None: a twentieth of all, but ten.
        described: Whether a template calls columns by what people wrote about them, not by names.
        chances: How probable each part of a query is.
    """

    questions: int = 300
    seed: int = 0
    attempts: int = 8
    answers: int | None = None
    described: bool = False
    chances: Chances = field(default_factory=Chances)

    def most_answers(self, tables: int) -> int:
        """Return how many of so many tables may answer a question."""
        return max(10, tables // 20) if self.answers is None else self.answers


def content_questions(
    dataset: RetrievalSet, spec: ContentSpec, asker: Asker | None = None
) -> Generated:
    """Make questions about the tables of a set, as evenly as they can be asked about.

    A query is drawn, run on all rows, and run on every other table that has such columns: those
    that answer it, too, are answers. Then it is worded, by a template or by a model; what a model
    words is kept if it leads back to the query. The same set, spec and answers of the model give
    the same questions.

    Args:
        dataset: The tables; its questions do not matter.
        spec: How many, and how.
        asker: The model; None: the template's words are the questions.

    Raises:
        BenchmarkError: No query can be made of these tables, or answers cannot be kept. Where no
            attempt passes all stages, there are rejected ones alone.
        ModelError: The model is missing or fails.
    """
    subjects = subjects_of(dataset)
    order = [*subjects]
    chance_of(spec.seed, "order").shuffle(order)
    asked: list[Asked] = []
    rejected: list[Rejected] = []
    with Workbench() as bench:
        drafting = Drafting(
            dataset,
            bench,
            Annotator(subjects, bench, described=spec.described),
            spec.chances,
            seed=spec.seed,
            answers=spec.most_answers(len(subjects)),
            described=spec.described,
        )
        maker = _Maker(drafting, Turns(order, spec.attempts), spec, asker)
        for one in maker.made():
            asked.extend([one] if isinstance(one, Asked) else [])
            rejected.extend([one] if isinstance(one, Rejected) else [])
    if not asked and not rejected:
        raise BenchmarkError(
            f"none of {len(subjects):,} tables can be asked about; they need named columns and rows"
        )
    return Generated(asked, rejected, _manifest(dataset, spec, asker, asked, rejected))


def _manifest(
    dataset: RetrievalSet,
    spec: ContentSpec,
    asker: Asker | None,
    asked: Sequence[Asked],
    rejected: Sequence[Rejected],
) -> dict[str, Any]:
    model = None if asker is None else asker.model.name
    return {
        "format": _FORMAT,
        "set": dataset.name,
        "tables": len(dataset.tables),
        "tables_key": tables_key(dataset),
        "model": model,
        "prompts": None if asker is None else VERSION,
        "spec": asdict(spec),
        "asked": len(asked),
        "stages": stages(
            (*DRAWN, *(() if asker is None else REWORDED), *LAST), len(asked), rejected
        ),
    }


@dataclass
class _Maker:
    """Goes in waves: all tables whose turn it is are drafted, and the model is asked of all."""

    drafting: Drafting
    turns: Turns
    spec: ContentSpec
    asker: Asker | None
    seen: set[str] = field(default_factory=set)

    def made(self) -> Iterator[Asked | Rejected]:
        """Yield what becomes of each attempt, until there are enough questions."""
        while len(self.seen) < self.spec.questions:
            turns = self.turns.next(self.spec.questions - len(self.seen))
            if not turns:
                return
            drafts: list[tuple[Turn, Draft]] = []
            for turn in turns:
                for one in self._drafted(turn):
                    if isinstance(one, Draft):
                        drafts.append((turn, one))
                    else:
                        yield one
            worded = self._worded([draft for _, draft in drafts])
            for (turn, _), outcome in zip(drafts, worded, strict=True):
                made = self._new(outcome)
                self.turns.end(turn, fruitful=isinstance(made, Asked))
                report("making questions", len(self.seen), self.spec.questions)
                yield made

    def _drafted(self, turn: Turn) -> Iterator[Draft | Rejected]:
        """Yield a table's attempts until one is a draft; a table of which none comes leaves."""
        for _ in range(self.spec.attempts):
            one = self.drafting.draft(turn.subject, turn.drawn)
            turn.drawn += 1
            if one is None:
                break
            yield one
            if isinstance(one, Draft):
                return
        self.turns.leave(turn)

    def _worded(self, drafts: Sequence[Draft]) -> Sequence[Outcome]:
        if self.asker is None:
            return drafts
        return reworded(drafts, self.asker)

    def _new(self, one: Outcome) -> Asked | Rejected:
        if isinstance(one, Rejected):
            return one
        if len(one.question) > LONGEST:
            return one.rejected("repetition", "too long")
        if one.question.casefold() in self.seen:
            return one.rejected("repetition", "asked before")
        self.seen.add(one.question.casefold())
        return one.asked()
