"""The part of `pneuma-bench generate` that asks about what documents say."""

from enum import StrEnum
from typing import TYPE_CHECKING

from pneuma_assets.cli.errors import UsageError

if TYPE_CHECKING:
    from pneuma_assets.core.config.load import LoadedDeployment
    from pneuma_bench.generator.questions import Generated
    from pneuma_bench.generator.rewording import Asker
    from pneuma_bench.sets import RetrievalSet


class Contexts(StrEnum):
    """Where contexts come from."""

    EXTRACTED = "extracted"
    GROUNDED = "grounded"
    PLAYED = "played"


def chosen_contexts(asker: "Asker | None", contexts: Contexts | None) -> Contexts:
    """Return where contexts come from, given what was chosen, if anything.

    Raises:
        UsageError: A model would have to write contexts, and none is asked.
    """
    if contexts is None:
        return Contexts.EXTRACTED if asker is None else Contexts.GROUNDED
    if asker is None and contexts is not Contexts.EXTRACTED:
        raise UsageError(f"a model writes contexts that are {contexts}; set bench.enabled: true")
    return contexts


def context_part(
    loaded: "LoadedDeployment",
    dataset: "RetrievalSet",
    asker: "Asker | None",
    questions: int,
    seed: int,
    answers: int | None,
    contexts: Contexts,
) -> "Generated":
    """Return context questions, with the deployment's encoder; see `context_questions`."""
    from pneuma_assets.core.models.encoder.encoder import open_encoder
    from pneuma_bench.generator.context import context_questions
    from pneuma_bench.generator.context_stages import ContextSpec

    encoder = open_encoder(loaded.deployment.encoder)
    spec = ContextSpec(questions, seed, contexts.value, answers)
    if asker is None:
        return context_questions(dataset, spec, encoder)
    spec = ContextSpec(questions, seed, contexts.value, answers, tokens=asker.max_new_tokens)
    return context_questions(dataset, spec, encoder, asker.model, asker.ledger)
