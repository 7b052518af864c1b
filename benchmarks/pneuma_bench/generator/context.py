"""Makes context questions: what people wrote about a table (Pneuma, section 6.2)."""

from collections import Counter
from dataclasses import asdict

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_bench.generator.context_making import ContextMaking
from pneuma_bench.generator.context_prompts import VERSION
from pneuma_bench.generator.context_stages import ContextSpec, stages_of
from pneuma_bench.generator.ledger import Ledger
from pneuma_bench.generator.pages import Pages
from pneuma_bench.generator.questions import Generated
from pneuma_bench.keys import tables_key
from pneuma_bench.sets import RetrievalSet

_FORMAT = 2
"""Of what is made; another number tells that the same seed gives other questions."""


def context_questions(
    dataset: RetrievalSet,
    spec: ContextSpec,
    encoder: Encoder,
    model: LanguageModel | None = None,
    ledger: Ledger | None = None,
) -> Generated:
    """Make questions about what the documents of a set's tables say.

    A context answers one of the 51 questions of the datasheet for one table; a question asks for
    the table by it; other tables that answer are found. Contexts are drawn evenly over the 51 and
    over the tables. The same set, spec and answers of the model give the same questions.

    Args:
        dataset: The tables and their documents; its questions do not matter.
        spec: How many, and how.
        encoder: Tells how near texts are.
        model: Who words them. Without one, questions have the words of the documents.
        ledger: Where the model's answers are kept; needed with one.

    Raises:
        BenchmarkError: These tables have no documents that say anything; or a model is needed, or
            the ledger cannot be used.
        ModelError: The model fails.
    """
    pages = Pages(dataset, encoder)
    making = ContextMaking(dataset, spec, pages, stages_of(dataset, spec, pages, model, ledger))
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
        "model": None if model is None else model.name,
        "prompts": None if model is None else VERSION,
        "spec": asdict(spec),
        "asked": len(asked),
        "by_datasheet": dict(sorted(Counter(one.made["datasheet"] for one in asked).items())),
        "stages": making.stages(),
    }
    return Generated(asked, making.rejected, manifest)
