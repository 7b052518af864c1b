"""The lake of like schemas is always the same, and every question of it has an answer."""

import csv
import sys

from pneuma_assets.core.tables import Column, Table
from pneuma_bench.discovery.independent import independent_benchmark
from pneuma_bench.discovery.records import read_discovery
from pneuma_bench.experiments.answers import like_schemas
from pneuma_bench.experiments.answers.like_schemas import FAMILIES, questions, tables_of
from pneuma_bench.sets import RetrievalSet


def made(folder, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["like_schemas", str(folder), *arguments])
    like_schemas.main()
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


def test_the_same_seed_gives_the_same_files(tmp_path, monkeypatch, capsys):
    small = ("--families", "2", "--tables", "3")
    first = made(tmp_path / "a", monkeypatch, *small)
    assert "6 tables, 10 questions" in capsys.readouterr().out
    assert len(first) == 7
    assert made(tmp_path / "b", monkeypatch, *small) == first
    assert made(tmp_path / "c", monkeypatch, *small, "--seed", "1") != first


def test_every_question_has_answers_and_some_many(tmp_path, monkeypatch):
    made(tmp_path, monkeypatch)
    found = independent_benchmark(lake(tmp_path / "lake"), read_discovery(tmp_path / "asked.jsonl"))
    assert len(found.kept) == 60
    assert found.left_out == {}
    assert max(found.tables) >= 8
    families = {tuple({table.rpartition("_")[0] for table in one.tables}) for one in found.kept}
    assert sorted(families) == sorted((one.name,) for one in FAMILIES)


def test_the_tables_of_a_question_are_those_with_its_thing(tmp_path, monkeypatch):
    """Worked out without SQL: the largest number of a thing in each table."""
    made(tmp_path, monkeypatch)
    family = FAMILIES[5]
    tables = tables_of(family, 10, 0)
    asked = next(one for one in questions(family, tables, 0) if one["kind"] == "highest")
    column = next(one for one in family.columns if f'MAX("{one}")' in asked["made"]["sql"])
    thing = asked["made"]["sql"].rpartition("= ")[2].strip("'")
    at = family.columns.index(column)
    wanted = {
        f"{family.name}_{member}": max(int(row[at]) for row in drawn if row[0] == thing)
        for member, drawn in tables.items()
        if any(row[0] == thing for row in drawn)
    }
    found = independent_benchmark(lake(tmp_path / "lake"), read_discovery(tmp_path / "asked.jsonl"))
    (kept,) = (one for one in found.kept if one.question == asked["question"])
    assert {one["tables"][0]: one["rows"][0][0] for one in kept.cells} == wanted


def lake(folder):
    pairs = []
    for path in sorted(folder.rglob("*.csv")):
        with path.open(newline="", encoding="utf-8") as stream:
            header, *rows = csv.reader(stream)
        columns = tuple(Column(name, "VARCHAR") for name in header)
        pairs.append((Table(f"s/{path.stem}", columns, len(rows), ""), [*map(tuple, rows)]))
    return RetrievalSet("s", pairs, (), ())
