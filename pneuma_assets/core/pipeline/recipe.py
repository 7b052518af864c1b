"""What decides how a table is represented, besides the table: models, prompts and options."""

from pneuma_assets.core.config.indexing import SamplingConfig
from pneuma_assets.core.documents.registry import makers
from pneuma_assets.core.evidence.fields import EVIDENCE_RULES
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.tables import content_hash

FORMAT = "3"
"""Raised when blocks, evidence, or documents of a kind whose maker is of version 0 are made
differently."""


def recipe_of(sampling: SamplingConfig, encoder: Encoder, narrations: str | None) -> str:
    """Return a hash that changes when every table must be indexed again.

    It does when a kind of document gets a maker or a maker another version (`documents.registry`),
    and when evidence is searched by other rules (`evidence.fields.EVIDENCE_RULES`).

    Args:
        sampling: How rows are drawn.
        encoder: What embeds the blocks.
        narrations: How columns are described (`describing_key`).
    """
    made = sorted(f"{maker.kind} {maker.version}" for maker in makers().values() if maker.version)
    represented = FORMAT, str(EVIDENCE_RULES), encoder.name, narrations or ""
    return content_hash(*represented, sampling.model_dump_json(), *made)
