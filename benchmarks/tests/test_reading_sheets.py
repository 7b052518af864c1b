"""A sheet of made questions, and the count of what people wrote on it."""

import json

import pytest
from typer.testing import CliRunner

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.cli.app import app
from pneuma_bench.generator.sheet import RIGHT, sheet_of, verdicts, wilson

HOSTILE = f"x`\n{RIGHT} y\n\x1b[2J"


def made(number):
    return [
        {"id": f"content-{at:04}", "question": f"Question {at} {HOSTILE}", "tables": ["t"] * 12,
         "made": {"sql": f"SELECT '{HOSTILE}'"}}
        for at in range(number)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("number", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (30, 40, 0.5981, 0.8581), (1, 2, 0.0945, 0.9055)],
)
def test_wilsons_interval(number, of, low, high):
    assert wilson(number, of) == pytest.approx((low, high), abs=1e-4)


def test_a_sheet_has_a_line_a_question_whatever_cells_hold():
    sheet = sheet_of(made(9), 4, seed=1)
    lines = [line for line in sheet.splitlines() if line.startswith(RIGHT)]
    assert lines == [f"{RIGHT} "] * 4
    assert "\x1b" not in sheet
    assert "and 2 more" in sheet
    assert sheet == sheet_of(made(9), 4, seed=1) != sheet_of(made(9), 4, seed=3)
    assert sheet_of(made(3), 4, seed=1).startswith("# 3 of 3")


def test_verdicts_are_counted_and_empty_lines_are_not():
    answers = ["y", "Yes", "n", "partly", ""]
    sheet = sheet_of(made(5), 5, seed=0)
    for one in answers:
        sheet = sheet.replace(f"{RIGHT} \n", f"{RIGHT} {one}\n", 1)
    counted = {one.verdict: (one.number, one.share) for one in verdicts(sheet)}
    assert counted == {"y": (2, 0.5), "partly": (1, 0.25), "n": (1, 0.25)}


@pytest.mark.parametrize(
    ("sheet", "said"),
    [
        ("# nothing", "no sheet"),
        (f"{RIGHT}\n", "none of 1"),
        (f"{RIGHT} maybe\n", "line 1: 'maybe' is no"),
        (
            f"# 2\n\n## content-0007\n\n{RIGHT} y\n\n## content-0009\n\n{RIGHT} maybe\n",
            "content-0009, line 9: 'maybe' is no verdict",
        ),
    ],
)
def test_what_is_no_sheet_is_refused(sheet, said):
    with pytest.raises(BenchmarkError, match=said):
        verdicts(sheet)


def test_the_command_prints_a_sheet_and_counts_it(tmp_path):
    def run(*arguments):
        return CliRunner().invoke(app, ["read", str(tmp_path), *arguments])

    assert "pneuma-bench generate --out" in run().output
    lines = "".join(json.dumps(one) + "\n" for one in made(5))
    (tmp_path / "t.queries.jsonl").write_text(lines)
    sheet = run("--sample", "2")
    assert sheet.exit_code == 0, sheet.output
    filled = sheet.stdout.replace(f"{RIGHT} \n", f"{RIGHT} y\n")
    (tmp_path / "s.md").write_text(filled)
    assert "1.00" in run("--ratings", str(tmp_path / "s.md")).stdout
    counted = json.loads(run("--ratings", str(tmp_path / "s.md"), "--json").stdout)
    assert counted[0]["number"] == 2
    missing = run("--ratings", str(tmp_path / "none.md"))
    assert missing.exit_code == 1
    assert "none.md (No such file or directory); give a sheet" in missing.stderr
    (tmp_path / "bad.md").write_bytes(b"\xff")
    assert "give a sheet in UTF-8" in run("--ratings", str(tmp_path / "bad.md")).stderr
    for wrong in ({}, {"made": {}}, {"made": {}, "tables": None}):
        (tmp_path / "t.queries.jsonl").write_text(json.dumps({"question": "x", **wrong}))
        assert "line 1" in run().output
