"""What decides how a table is represented, besides the table: models, prompts and options."""

from pneuma_assets.core.config.deployment import SamplingConfig
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.tables import content_hash

FORMAT = "2"
"""Raised when documents or blocks are made differently, so that every table is made anew."""


def recipe_of(sampling: SamplingConfig, encoder: Encoder, narrations: str | None) -> str:
    """Return a hash that changes when every table must be indexed again.

    Args:
        sampling: How rows are drawn.
        encoder: What embeds the blocks.
        narrations: The narrations' key (`narration_key`), None where the model is off.
    """
    return content_hash(FORMAT, encoder.name, narrations or "", sampling.model_dump_json())
