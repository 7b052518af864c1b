"""What decides how a table is represented, besides the table: models, prompts and options."""

from pathlib import Path

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.indexing import SamplingConfig
from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.documents.registry import makers
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.models.encoder.files import locate_encoder
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.pipeline.narrating import describing_key
from pneuma_assets.core.tables import content_hash
from pneuma_assets.core.terms.fields import TERM_RULES

FORMAT = "3"
"""Raised when blocks, evidence, or documents of a kind whose maker is of version 0 are made
differently."""


def recipe_of(sampling: SamplingConfig, encoder: Encoder, narrations: str | None) -> str:
    """Return a hash that changes when every table must be indexed again.

    It does when a kind of document gets a maker or a maker another version (`documents.registry`),
    and when evidence is searched by other rules (`terms.fields.TERM_RULES`).

    Args:
        sampling: How rows are drawn.
        encoder: What embeds the blocks.
        narrations: How columns are described (`describing_key`).
    """
    return _hashed(sampling, encoder.name, narrations)


def foreseen_recipe(deployment: Deployment, built_with: str | None) -> str | None:
    """Return the recipe of the next run; no model is loaded, and none asked.

    The name of an encoder from a hub holds its revision, which only the loaded model knows. Where
    the index was built with that model, it is taken to have the same revision still.

    Args:
        deployment: Its options and models.
        built_with: The name of the encoder that the index was built with, if there is an index.

    Returns:
        None where only a run can tell.

    Raises:
        ModelError: A model that is configured is not there.
    """
    encoder = deployment.encoder.model
    name = locate_encoder(encoder).name
    if name is None and built_with is not None:
        name = built_with if built_with.startswith(f"{encoder}@") else f"{encoder}@"
    if name is None:
        return None
    return _hashed(deployment.sampling, name, _way(deployment.narration))


def _way(config: NarrationConfig) -> str:
    """Return how columns are described, by the model's name alone."""
    if not config.enabled:
        return describing_key(None, config)
    # It is made, but not used: a device that is named keeps torch from being asked for one.
    named = config.model_copy(update={"device": "cpu"})
    return describing_key(open_language_model(named, Path(), {}), config)


def _hashed(sampling: SamplingConfig, encoder: str, narrations: str | None) -> str:
    made = sorted(f"{maker.kind} {maker.version}" for maker in makers().values() if maker.version)
    represented = FORMAT, str(TERM_RULES), encoder, narrations or ""
    return content_hash(*represented, sampling.model_dump_json(), *made)
