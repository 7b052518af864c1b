"""Figures: what people see keeps its name, what is added keeps its sum."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.pipeline.describe import SchemaNarrationsFigures
from pneuma_assets.core.pipeline.embed import EmbeddingBlocksFigures
from pneuma_assets.core.pipeline.list import RawTablesFigures
from pneuma_assets.core.pipeline.sample import SampledRowsFigures
from pneuma_assets.core.pipeline.stage import Figures
from pneuma_assets.core.pipeline.write import SearchIndexFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(Figures):
    stage: ClassVar[str] = "counting"

    tables: int = 0
    begun_anew: int = 0
    blocks: Mapping[str, int] = field(default_factory=dict)


COUNTS = st.integers(0, 10**12)
COUNTED = st.builds(
    Counted,
    tables=COUNTS,
    begun_anew=COUNTS,
    blocks=st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,31}", fullmatch=True), COUNTS),
)


def test_people_see_names_with_blanks_and_kinds():
    figures = Counted(tables=2, begun_anew=1, blocks={"rows": 3, "context": 0})
    assert figures.named() == {"tables": 2, "begun anew": 1, "rows blocks": 3, "context blocks": 0}


@given(COUNTED, COUNTED)
def test_each_number_is_added(one, two):
    both = one + two
    assert both.tables == one.tables + two.tables
    assert both.begun_anew == one.begun_anew + two.begun_anew
    for kind in {*one.blocks, *two.blocks}:
        assert both.blocks[kind] == one.blocks.get(kind, 0) + two.blocks.get(kind, 0)
    assert both == two + one


@pytest.mark.parametrize(
    ("figures", "names"),
    [
        (
            RawTablesFigures(),
            "tables, new, changed, unchanged, gone, renamed, held, unreachable, lost, claimed, "
            "waiting, profiled, columns, rows, contexts, not whole, linked, "
            "other readers, begun anew",
        ),
        (
            SampledRowsFigures(),
            "tables, rows, kept, same, changed little, changed much, other columns, "
            "values, without values, milliseconds for values",
        ),
        (
            SchemaNarrationsFigures(),
            "tables, columns, narrated, kept, written, shown, summarised, unanswered, left, "
            "expected tokens, expected cents, requests, tokens read, tokens written",
        ),
        (EmbeddingBlocksFigures(), "tables, blocks, embedded, reused, characters, tokens read"),
        (
            SearchIndexFigures(blocks={"schema": 0, "rows": 0}),
            "tables, schema blocks, rows blocks, removed, renamed, forgotten, copies, joins, "
            "headers, told, published, pages of others",
        ),
    ],
)
def test_the_names_in_the_ui_are_those_of_earlier_runs(figures, names):
    """Dagster draws a figure over time by its name: another name is another curve."""
    assert ", ".join(figures.named()) == names
