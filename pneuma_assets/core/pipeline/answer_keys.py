"""Under what key a model's answers are kept, and found again."""

from collections.abc import Sequence

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.narration.prompts import PROMPT_VERSIONS
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.narrations import Answer, AnswerKey
from pneuma_assets.core.tables import Table


def narration_key(model: LanguageModel, config: NarrationConfig) -> str:
    """Name what decides a narration besides table and column: model, prompt, length."""
    version = PROMPT_VERSIONS[config.asked]
    return f"{model.name}|prompt {version}|{config.max_new_tokens} tokens"


def answer_key(model: LanguageModel, config: NarrationConfig) -> AnswerKey:
    """Name what decides a narration, and whether it belongs to a table or to all of a schema."""
    return AnswerKey(narration_key(model, config), of_table=config.asked == "grounded")


def answer_keys(model: LanguageModel, config: NarrationConfig) -> list[AnswerKey]:
    """Return under what keys there may be narrations, best first.

    What the paper's prompt once brought holds for the grounded one, too: to ask for all of it
    again is not worth a model's hours. So does what an endpoint brought while it was shown values.
    """
    others = ({"prompt": "paper"}, {"send_values": True})
    ways = [config, *(config.model_copy(update=one) for one in others)]
    return list(dict.fromkeys(answer_key(model, way) for way in ways))


def said_by_model(store: Store, keys: Sequence[AnswerKey], table: Table) -> dict[int, Answer]:
    """Return what a model said of a table's columns, by position; the first key's goes first."""
    said: dict[int, Answer] = {}
    for key in reversed(keys):
        said |= store.narrations.answers(key, table)
    return said
