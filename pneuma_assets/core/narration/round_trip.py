"""Whether what a model says of a column leads back to that column.

A description that is nearer to another column of the table misleads whoever reads or searches it;
saying nothing costs nothing, since the name stands in.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.tables import Description, Provenance, Table

FEWEST_COLUMNS = 3
"""Of a table of fewer, a text leads back to its column whatever it says, or every other time."""

_EQUAL = 1e-6


def those_that_lead_back(
    encoder: Encoder,
    table: Table,
    said: Mapping[int, str],
    facts: Mapping[int, Description],
    by: str,
) -> dict[int, Description]:
    """Return the texts whose embedding is nearest to their own column's among the table's.

    Of a table with fewer than `FEWEST_COLUMNS` none is returned, since nothing can be told there.
    A column is its name and what its values show. The confidence is the cosine of both.

    Args:
        encoder: What embeds.
        table: The table.
        said: What a model said, by position; empty texts say nothing.
        facts: What names and values show, by position.
        by: The model.
    """
    positions = [position for position, text in said.items() if text]
    if not positions or len(table.columns) < FEWEST_COLUMNS:
        return {}
    anchors = encoder.encode_documents(_anchors(table, facts))
    texts = encoder.encode_documents([said[position] for position in positions])
    cosines = texts @ anchors.T
    own = cosines[np.arange(len(positions)), positions]
    passed = own >= cosines.max(axis=1) - _EQUAL
    return {
        position: Description(said[position], Provenance.MODEL, by, _confidence(cosine))
        for position, cosine, good in zip(positions, own, passed, strict=True)
        if good
    }


def _anchors(table: Table, facts: Mapping[int, Description]) -> Sequence[str]:
    return [
        f"{column.name}: {facts[position].text}" if position in facts else column.name
        for position, column in enumerate(table.columns)
    ]


def _confidence(cosine: float) -> float:
    return round(float(np.clip(cosine, 0.0, 1.0)), 3)
