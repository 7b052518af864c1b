"""What pages are put together from: bars, graphs, times and marked texts."""

from datetime import UTC, datetime, timedelta
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.service.lineage import LinkedTable
from pneuma_assets.core.tables import ColumnProfile
from pneuma_assets.web.pages.charts import chart_of
from pneuma_assets.web.pages.drawings import (
    MOST_IN_A_LAYER,
    Bar,
    histogram,
    lineage_graph,
    shares,
    trend,
)
from pneuma_assets.web.pages.rendering import ago, anchor, environment, percent, segments, shown


@given(
    st.dictionaries(
        st.sampled_from(["meaning", "words", "rare", "new one"]),
        st.floats(0, 1, allow_subnormal=False),
    )
)
def test_what_adds_to_a_score_is_named_in_one_order(signals):
    parts = shares(signals)
    assert {one.share for one in parts} == {value for value in signals.values() if value > 0}
    names = [one.name for one in parts]
    assert names == [
        one for one in ("Meaning", "Descriptions", "Rare words", "new one") if one in names
    ]


def test_bars_and_trends_fill_their_box_or_draw_nothing():
    def bars_of(*bins: tuple[float, float, int], least: str = "0") -> list[Bar]:
        return histogram(
            ColumnProfile(0.0, 3, distinct_exact=True, least=least, greatest="3", histogram=bins)
        )

    bars = bars_of((0, 1, 5), (1, 2, 10), (2, 3, 0))
    assert [one.height for one in bars] == [20, 40, 0]
    assert (bars[1].between, bars[1].rows) == ("1 to 2", 10)
    assert bars_of() == bars_of((0, 1, 0)) == []
    year = 366 * 86_400
    (days,) = bars_of((0, year, 1), least="1970-01-01")
    assert days.between == "1970-01-01 to 1971-01-02"
    (minutes,) = bars_of((60, year, 1), least="1970-01-01 00:01")
    assert minutes.between == "1970-01-01 00:01 to 1971-01-02 00:00"
    (small,) = bars_of((1e-5, 2.0, 1), least="1E-5")
    assert small.between == "1e-05 to 2"
    assert trend([(0.0, 5)]) is None
    drawn = trend([(0.0, 0), (10.0, 50), (20.0, 100)])
    assert drawn is not None
    assert drawn.line == "0.0,116.0 300.0,60.0 600.0,4.0"


def test_a_graph_of_many_tables_is_bounded_and_says_how_many_are_left_out():
    linked = [LinkedTable(f"m/t{n}", "downstream", 1, "own", "view") for n in range(500)]
    linked += [LinkedTable("far", "upstream", 9, "m/t1", "view")]
    graph = lineage_graph("own", linked)
    assert graph is not None
    assert len(graph.nodes) == MOST_IN_A_LAYER + 2
    assert graph.nodes[0].table_id == "own"
    assert graph.nodes[-1].name == "and 492 more"
    assert len(graph.arrows) == MOST_IN_A_LAYER
    assert all(0 <= one.x <= graph.width and 0 <= one.y <= graph.height for one in graph.nodes)
    assert lineage_graph("own", []) is None


@given(st.text(max_size=40), st.lists(st.integers(0, 40), max_size=6, unique=True))
def test_marks_part_a_text_and_lose_none_of_it(text, cuts):
    ends = sorted(one for one in cuts if one <= len(text))
    marks = tuple(zip(ends[::2], ends[1::2], strict=False))
    parts = list(segments(text, marks))
    assert "".join(part for part, _ in parts) == text
    assert [part for part, hit in parts if hit] == [text[a:b] for a, b in marks]


@pytest.mark.parametrize(
    ("age", "says"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=49), "2 days ago"),
        (timedelta(days=800), "2 years ago"),
    ],
)
def test_times_are_told_in_words(age, says):
    assert ago((datetime.now(UTC) - age).isoformat()) == says


@pytest.mark.parametrize(
    ("share", "says"),
    [(0.0, "0 %"), (0.001, "under 1 %"), (0.5, "50 %"), (0.999, "99 %"), (1.0, "100 %")],
)
def test_no_share_is_rounded_to_none_or_all(share, says):
    assert percent(share) == says


def test_what_disguises_a_text_is_seen():
    assert shown("sales\u202efdp\x00") == "sales\ufffdfdp\ufffd"
    assert anchor("a b/<c>") == "a~20b~2F~3Cc~3E"


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        (("n",), [(1,), (2,)]),
        (("name", "n"), [("a", 1)]),
        (("name", "n"), [("a", "1"), ("b", "2")]),
        (("name", "n"), [(f"x{one}", one) for one in range(41)]),
        (("year", "n"), [(one, one) for one in range(1_001)]),
        (("name", "n"), [("a", 10**400), ("b", 1)]),
        (("name", "n"), [("a", None), ("b", None)]),
    ],
)
def test_rows_that_no_chart_shows_have_none(columns, rows):
    assert chart_of(columns, rows) is None


def test_a_chart_holds_what_it_shows_by_what_tells_rows_apart():
    chart = chart_of(("day", "n"), [("2020-01-01", 1), ("2020-01-02", 3)])
    assert chart is not None
    assert chart.says.startswith("Line of n by day")
    assert len(chart.points) == 2
    rows = [("Peru", "2020-01-01", 1), ("Peru", "2020-01-02", 3)]
    assert chart_of(("country", "day", "n"), rows).says.startswith("Line of n by day")
    assert chart_of(("country", "n"), [(one, n) for one, _, n in rows]) is None


def drawn(columns, rows):
    """Return the SVG of a chart, as a page has it."""
    parts = environment().get_template("parts.html").make_module({"asker": None})
    return str(parts.chart(chart_of(columns, rows)))


def test_bars_begin_at_zero_and_have_their_values_beside_them():
    rows = [("Kiel", 30), ("Riga", -10), ("Turku", None), ("Tallinn", 0)]
    chart = chart_of(("station", "total"), rows)
    (kiel, riga, tallinn) = [(x, x + width) for x, _, width in chart.bars]
    assert riga[1] == kiel[0] == tallinn[0] == tallinn[1]
    assert kiel[1] - kiel[0] == pytest.approx(3 * (riga[1] - riga[0]), abs=0.2)
    assert {"Kiel", "Riga", "Tallinn", "30", "-10", "0", "station", "total"} == {
        text for *_, text in chart.texts
    }


def test_a_line_has_round_values_at_its_side_and_some_of_its_dates_below():
    days = [f"2020-01-{day:02}" for day in range(1, 32)]
    chart = chart_of(("day", "n"), [(one, 1_000 + 7 * at) for at, one in enumerate(days)])
    texts = [text for *_, text in chart.texts]
    assert [one for one in texts if "," in one] == ["1,000", "1,050", "1,100", "1,150", "1,200",
                                                    "1,250"]  # fmt: skip
    below = [one for one in texts if "-" in one]
    assert (below[0], below[-1], len(below)) == (days[0], days[-1], 5)


CELLS = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=300)),
    *(st.datetimes().map(str), st.lists(st.integers(), max_size=3)),
)


@given(st.lists(st.tuples(CELLS, CELLS, st.floats(allow_nan=False)), max_size=50))
def test_whatever_rows_there_are_a_chart_stays_in_its_box(rows):
    chart = chart_of(("a", "b", "c"), rows)
    if chart is not None:
        whole = [*((x + width, y) for x, y, width in chart.bars), *chart.points]
        whole += [(x, y) for x, y, *_ in (*chart.bars, *chart.texts)]
        assert all(isfinite(x) and -1 <= x <= 721 for x, _ in whole)
        assert all(isfinite(y) and 0 <= y <= chart.height for _, y in whole)


@pytest.mark.parametrize("sign", ["x", "漢", "<script>&'\"", "\u202e", "\n"])
def test_a_chart_of_large_cells_is_as_small_as_one_of_small_ones(sign):
    """What is made of an answer in the server's process is bounded by counts, not by seconds."""
    rows = [(f"{one:02} {sign * 80_000}", one) for one in range(40)]
    svg = drawn(("name " + sign * 80_000, "n"), rows)
    assert len(svg) < 30_000
    assert "<script" not in svg
    assert "\u202e" not in svg
    assert len(drawn(("day", "n"), [(one, one) for one in range(1_000)])) < 30_000
    assert 'role="img" aria-label="Bars of n by name' in svg


@pytest.mark.parametrize(
    ("total", "offset", "shown", "links", "says"),
    [
        (3, 0, 3, [], ""),
        (60, 0, 50, ["after"], "1 to 50 of 60"),
        (120, 50, 50, ["before", "after"], "51 to 100 of 120"),
        (60, 50, 10, ["before"], "51 to 60 of 60"),
        (60, 400, 0, ["before"], "60"),
    ],
)
def test_a_list_in_pages_leads_to_the_pages_beside(total, offset, shown, links, says):
    module = environment().get_template("parts.html").make_module({"asker": None})
    html = str(module.pages(total, offset, shown, "before", "after"))
    assert [one for one in ("before", "after") if f'href="{one}"' in html] == links
    assert says in html
