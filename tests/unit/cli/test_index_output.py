"""What `pneuma-assets index` says it has done."""

import pytest

from pneuma_assets.cli.index import _print_report
from pneuma_assets.core.models.usage import Usage
from pneuma_assets.core.service.index_report import IndexingReport

SECONDS = dict.fromkeys(
    ("embedding_blocks", "raw_tables", "sampled_rows", "schema_narrations", "search_index"), 1.5
)


def report(columns: int, described: int, asked: int) -> IndexingReport:
    return IndexingReport(
        *(4, 1, 0, 2, 0, 0, 0),
        blocks=17,
        columns=columns,
        described_columns=described,
        narrated_columns=asked,
        usage=Usage(2, 3_000, 400, 0.0021),
        seconds=57.1,
        stage_seconds=SECONDS,
        problems=[],
        succeeded=True,
        last_renaming="lake/a -> lake/b",
    )


@pytest.mark.parametrize(
    ("figures", "told", "asked"),
    [
        ((0, 0, 0), "0 of 0", None),
        ((24, 17, 0), "17 of 24", None),
        (
            (24, 24, 1),
            "24 of 24",
            "a language model was asked for 1 column",
        ),
        (
            (2400, 2399, 1200),
            "2,399 of 2,400",
            "a language model was asked for 1,200 columns",
        ),
    ],
)
def test_described_columns_are_counted_whoever_describes_them(
    capsys, monkeypatch, figures, told, asked
):
    monkeypatch.setenv("COLUMNS", "80")
    _print_report(report(*figures))
    headings, row, *lines = capsys.readouterr().out.splitlines()
    assert row[headings.index("columns described") :].startswith(told)
    assert [line for line in lines if "language model" in line] == ([asked] if asked else [])
    assert max(map(len, lines)) <= 80
    told = " ".join(lines)
    assert "search_index 1.5 s, start and end 49.6 s)" in told
    assert "2 tables have another name than before: lake/a -> lake/b, ..." in told
    assert lines[-1] == "next: pneuma-assets search QUESTION"
