"""Asks a language model to describe columns, and keeps what is worth keeping."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.narration.answers import tidy
from pneuma_assets.core.narration.prompts import Ground, column_prompt, grounded_prompt
from pneuma_assets.core.progress import report

ACTIVITY = "schema narrations"
"""What progress is reported under."""

SECOND_SENTENCE = ("\n", ". It", ". The", ". This")
"""Where an answer ends. The paper's narrations are one sentence (figure 3); what small models add
to it takes longer than the sentence and is mostly padding that any question's words can hit."""


@dataclass(frozen=True, slots=True)
class NarrationRequest:
    """The column at `position` of a table with these columns is to be described.

    With a `ground` the prompt shows it; without, it is the paper's.
    """

    table_id: str
    columns: tuple[str, ...]
    position: int
    ground: Ground | None = None

    @property
    def prompt(self) -> str:
        """What the model is asked."""
        if self.ground is None:
            return column_prompt(self.columns, self.position)
        return grounded_prompt(self.columns, self.position, self.ground)


@dataclass(frozen=True, slots=True)
class Narration:
    """What the model says of a column; empty where it has nothing to say.

    `problem` says why there is no answer at all (`models.base.Generation`).
    """

    table_id: str
    position: int
    text: str
    problem: str | None = None


def narrate_columns(
    model: LanguageModel, requests: Sequence[NarrationRequest], max_new_tokens: int
) -> Iterator[Narration]:
    """Yield one narration a request, as they finish, in any order.

    The prompts of all tables form one pool (section 4), those of one table side by side so that
    the model may read their schema once. The same prompt is asked only once: tables cut from one
    mould have the same columns.

    Raises:
        ModelError: The model is missing or fails; what was yielded before is good.
    """
    askers: dict[str, list[NarrationRequest]] = {}
    for request in requests:
        askers.setdefault(request.prompt, []).append(request)
    prompts = list(askers)
    done = 0
    report(ACTIVITY, done, len(requests))
    for generation in model.generate(prompts, max_new_tokens, SECOND_SENTENCE):
        text = tidy(generation.text, whole=generation.whole)
        for request in askers[prompts[generation.index]]:
            done += 1
            report(ACTIVITY, done, len(requests))
            yield Narration(request.table_id, request.position, text, generation.problem)
