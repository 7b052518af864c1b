"""What `pneuma-assets search` prints of a result beside its line of figures."""

import json
from dataclasses import replace

import pytest

from pneuma_assets.cli.search import _print_answer
from pneuma_assets.core.search.results import ScoreParts, TableResult
from pneuma_assets.core.search.signals import added
from pneuma_assets.core.tables import DocumentKind

SIGNALS = {"meaning": 0.4, "words": 0.48, "names": 0.05}
PARTS = ScoreParts(0.53, 0.4, None, 6.1, 0.5, signals=SIGNALS, trust=-0.012)
RESULT = TableResult(
    *("lake/sales/orders", 0.918, PARTS, DocumentKind("context"), "What was paid", "", ""),
    confidence=0.6,
    answerable=0.7,
    copies=("lake/tmp/orders", "lake/sales/orders\x1b[2J_bak"),
)


def printed(capsys, result=RESULT, **options) -> list[str]:
    _print_answer([result], 0.27, **options)
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_copies_are_named_and_cannot_obey_a_terminal(capsys):
    lines = printed(capsys, explain=False)

    assert lines[2:] == ["context: What was paid", lines[3]]
    assert lines[3].startswith("also: lake/tmp/orders, lake/sales/orders")
    assert "\x1b" not in "".join(lines)


def test_what_every_signal_adds_and_trust_takes_is_explained(capsys):
    lines = printed(capsys, explain=True)

    assert lines[-1] == "words 0.480, meaning 0.400, names 0.050, trust -0.012"


def test_why_the_judge_gives_a_grade_is_explained_and_cannot_obey_a_terminal(capsys):
    judged = replace(PARTS, judge=2 / 3, reason="orders,\x1b[2J not sums")
    lines = printed(capsys, replace(RESULT, parts=judged), explain=True)
    assert lines[1].split()[5] == "0.67"
    assert lines[-1] == "judge: orders, [2J not sums"


@pytest.mark.parametrize("trust", [0.0, -0.0, -1e-17, -0.0004])
def test_next_to_nothing_that_trust_takes_is_not_explained(capsys, trust):
    lines = printed(capsys, replace(RESULT, parts=replace(PARTS, trust=trust)), explain=True)

    assert "trust" not in lines[-1]


def test_no_score_stands_where_probably_no_table_answers(capsys):
    sure = printed(capsys, explain=False)
    doubtful = printed(capsys, replace(RESULT, confidence=0.1, answerable=0.2), explain=False)
    assert sure[0].split() == ["sure", "score", "words", "meaning", "judge", "table"]
    assert sure[1].split() == ["1", "0.60", "0.92", "0.53", "0.40", "-", "lake/sales/orders"]
    assert doubtful[0] == "No confident match (0.20)."
    assert doubtful[2].split() == ["1", "0.10", "-", "-", "-", "-", "lake/sales/orders"]


def test_the_json_names_copies_and_trust_and_no_rounding_errors():
    record = RESULT.to_dict()
    assert record["copies"] == RESULT.copies
    assert record["parts"]["trust"] == -0.012
    parts = replace(PARTS, trust=-4.3e-13, lexical=added({}), signals={"words": 0.1 + 0.2})
    record = replace(RESULT, score=0.9999999999995658, parts=parts).to_dict()
    told = [record["score"], *(record["parts"][one] for one in ("trust", "lexical"))]
    assert json.dumps([*told, record["parts"]["signals"]]) == '[1.0, 0.0, 0.0, {"words": 0.3}]'
