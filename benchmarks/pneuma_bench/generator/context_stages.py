"""What context questions are made by: where contexts come from, who judges, who asks."""

from dataclasses import dataclass
from typing import Literal

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.models.base import LanguageModel
from pneuma_bench.generator.context_annotating import Nearby, Saying
from pneuma_bench.generator.context_by_model import ModelWording
from pneuma_bench.generator.context_prompts import DOCUMENT_CHARACTERS
from pneuma_bench.generator.context_questions import TemplateWording, Wording
from pneuma_bench.generator.contexts import (
    ContextMaker,
    ExtractedContexts,
    ModelContexts,
)
from pneuma_bench.generator.judging import ContextJudge
from pneuma_bench.generator.ledger import Ledger
from pneuma_bench.generator.pages import Pages
from pneuma_bench.sets import RetrievalSet


@dataclass(frozen=True, slots=True)
class ContextSpec:
    """How context questions are made.

    Attributes:
        questions: How many.
        seed: Decides which.
        contexts: `extracted` from the tables' documents as they stand; `grounded`, written by a
            model that reads them; `played` by a model that sees columns alone, as in the paper.
        answers: Most tables that may answer one; None: a twentieth of all, but ten.
        candidates: Other tables about which a model is asked whether they answer, too.
        tokens: Most of an answer of the model.
        attempts: Pairs of a table and a datasheet question that a model is asked about, for each
            question that is wanted.
    """

    questions: int = 300
    seed: int = 0
    contexts: Literal["extracted", "grounded", "played"] = "extracted"
    answers: int | None = None
    candidates: int = 10
    tokens: int = 96
    attempts: int = 6

    @property
    def is_free(self) -> bool:
        """Tell whether a context costs no answer of a model."""
        return self.contexts == "extracted"

    @property
    def most_tried(self) -> int:
        """Return about how many pairs a model is asked at most."""
        return self.attempts * self.questions


@dataclass(frozen=True, slots=True)
class Stages:
    """The parts that contexts and questions go through."""

    contexts: ContextMaker
    judge: ContextJudge
    wording: Wording


def stages_of(
    dataset: RetrievalSet,
    spec: ContextSpec,
    pages: Pages,
    model: LanguageModel | None,
    ledger: Ledger | None,
) -> Stages:
    """Return the stages of a spec.

    Raises:
        BenchmarkError: A model is needed, or a ledger for its answers, and there is none.
    """
    if model is None or ledger is None:
        if model is not None or not spec.is_free:
            raise BenchmarkError(
                f"contexts that are {spec.contexts} need a model, and a ledger for its answers; "
                "name a model in `bench.model`, or take extracted contexts"
            )
        return Stages(
            ExtractedContexts(pages), ContextJudge(pages), TemplateWording(dataset, pages)
        )
    if spec.contexts == "played":
        made = ModelContexts(dataset, model, ledger, spec.tokens, None)
        wording = ModelWording(model, ledger, pages, spec.tokens, made.others, None, paper=True)
        return Stages(made, ContextJudge(pages, written=True), wording)
    saying = Saying(pages)
    nearby = Nearby(pages, saying, spec.candidates).candidates
    wording = ModelWording(model, ledger, pages, spec.tokens, nearby, saying, paper=False)
    if spec.is_free:
        return Stages(ExtractedContexts(pages), ContextJudge(pages), wording)
    documents = _documents(pages)
    grounds = {
        table.table_id: " ".join(
            [documents.get(table.table_id, ""), *(column.name for column in table.columns)]
        )
        for table, _ in dataset.tables
    }
    contexts = ModelContexts(dataset, model, ledger, spec.tokens, documents)
    return Stages(contexts, ContextJudge(pages, grounds, written=True), wording)


def _documents(pages: Pages) -> dict[str, str]:
    """Return what is shown of each table's documents: their first passages."""
    shown: dict[str, list[str]] = {}
    for passage in pages.passages:
        shown.setdefault(passage.table_id, []).append(passage.shown)
    return {table: " ".join(some)[:DOCUMENT_CHARACTERS] for table, some in shown.items()}
