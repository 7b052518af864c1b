"""What signals add up to."""

from hypothesis import example, given
from hypothesis import strategies as st

from pneuma_assets.core.config.query import Weights
from pneuma_assets.core.index.base import SideHits, TableScores
from pneuma_assets.core.search.rerank import with_trust
from pneuma_assets.core.search.signals import rank_tables
from pneuma_assets.core.search.table_search import _parts
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.core.terms.fields import Field

FIELDS = (Field.NAMES, Field.VALUES, Field.ROWS, Field.CELLS, Field.PAIRS)
SURE = TableScores(fields=dict.fromkeys(FIELDS, 3.0))
NAMES = tuple(map(str, FIELDS))


def shown(weights: dict[str, float], trust: float) -> list[float]:
    """Return each score and what words say of it, the best table being best in every signal."""
    found = {"lake/a/one": SURE, "lake/b/two": TableScores(fields={Field.NAMES: 1.0})}
    ranked = rank_tables(found, Weights(**weights), SideHits())
    facts = {"lake/a/one": TableFacts(), "lake/b/two": TableFacts(owned=True)}
    return [
        value
        for one in with_trust(ranked, facts, trust)
        for value in (one.score, _parts(one).lexical)
    ]


@given(
    st.dictionaries(st.sampled_from((*NAMES, "coverage", "place")), st.floats(0, 1), max_size=6),
    st.floats(0, 0.2),
)
@example({}, 0.02)
@example({"names": 0.1, "values": 0.7, "rows": 0.1, "cells": 0.1, "pairs": 0.7}, 0.0)
def test_no_score_is_beyond_its_bounds(weights, trust):
    assert all(0.0 <= value <= 1.0 for value in shown(weights, trust))
