"""How often does a name that is typed in find what bears it?

    python -m pneuma_bench.experiments.names --tables 10000 --questions 500

Names of a made lake and, where the folder --real is there, of real tables are typed in:
whole, with their schema, in words, in part and with one typo, as written and in lower case. Asked
is `QueryEngine` on the embedded engine, with evidence of names, columns and three rows; vectors are
random, so that meaning says nothing, or something false. For each way of asking: hit@1, hit@5, the
milliseconds a question takes (middle and 95th percentile) and those of processor time.
"""

import argparse
import csv
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pyarrow.parquet as pq

from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableTerms, Vector
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import spell_out
from pneuma_bench.experiments.support.timing import time_each

Words = tuple[str, ...]

SHARED = (
    "id name status type code date created_at updated_at created_by is_active description amount "
    "price quantity currency email country version source notes start_date end_date total user_id"
)
BEFORE, AFTER = ("stg", "dim", "fact", "raw", "tmp"), ("archive", "history", "items", "old", "log")
STYLES: Mapping[str, Callable[[Words], str]] = {
    "snake": "_".join,
    "camel": lambda words: words[0] + "".join(word.capitalize() for word in words[1:]),
    "pascal": lambda words: "".join(word.capitalize() for word in words),
    "glued": "".join,
}
_SCHEMAS, _RARE, _WORDS = 80, 20_000, 12_000
_MONTHS, _ROWS = 12, 3
_WIDE, _WIDE_SHARE = 300, 0.01


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is written, and the words that whoever made it had in mind."""

    written: str
    words: Words

    @property
    def letters(self) -> str:
        """What is compared: two names that differ in case and signs alone are one."""
        return "".join(name_parts(self.written))


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table of the lake: where it lies, its names and a few rows."""

    places: tuple[str, ...]
    name: Name
    columns: tuple[Name, ...]
    rows: tuple[tuple[str, ...], ...] = ()

    @property
    def table_id(self) -> str:
        """As a source would call it."""
        return "/".join((*self.places, self.name.written))

    def evidence(self) -> TableTerms:
        """Return what is searched of it, as the pipeline would gather it."""
        names = (*self.places, self.name.written)
        columns = tuple(column.written for column in self.columns)
        return spell_out(TableTerms(names=names, columns=columns, rows=self.rows), ())


def made_lake(tables: int, seed: int = 0) -> list[NamedTable]:
    """Return so many tables of different names, the same ones every time."""
    maker = _Maker(random.Random(seed))
    found: dict[str, NamedTable] = {}
    while len(found) < tables:
        for table in maker.family():
            found.setdefault(table.table_id.casefold(), table)
    return list(found.values())[:tables]


def real_lake(folder: Path) -> list[NamedTable]:
    """Return the tables of a folder of folders of CSV and Parquet files, by their headers."""
    paths = sorted(p for p in folder.glob("*/*") if p.suffix in {".csv", ".parquet"})
    return [
        NamedTable(("lake", path.parent.name), _as_written(path.stem), tuple(_header(path)))
        for path in paths
    ]


def _header(path: Path) -> Iterator[Name]:
    if path.suffix == ".parquet":
        names = pq.read_schema(path).names
    else:
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            names = next(csv.reader(file))
    return (_as_written(name) for name in names if name)


def _as_written(name: str) -> Name:
    return Name(name, tuple(name_parts(name)))


class _Maker:
    """Draws names; words are those of an English dictionary, the common ones more often."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        listed = files("symspellpy") / "frequency_dictionary_en_82_765.txt"
        known = [line.split()[0] for line in listed.read_text("utf-8-sig").splitlines()]
        self._words = [word for word in known[100:_WORDS] if 3 < len(word) < 11 and word.isalpha()]
        styles = list(STYLES)
        self._schemas = [
            (self._joined("snake", self._drawn(1, 2)).written, chance.choice(styles))
            for _ in range(_SCHEMAS)
        ]
        self._rare = [self._drawn(1, 3) for _ in range(_RARE)]
        self._shared = [tuple(name.split("_")) for name in SHARED.split()]

    def family(self) -> Iterator[NamedTable]:
        """Yield a table and its relatives in one schema."""
        chance = self._chance
        schema, style = chance.choice(self._schemas)
        words = self._drawn(1, 3)
        related = [words]
        related += [(first, *words) for first in BEFORE if chance.random() < 0.1]
        related += [(*words, last) for last in AFTER if chance.random() < 0.15]
        if chance.random() < 0.05:
            year = str(chance.randint(2018, 2024))
            related += [(*words, year, f"{month + 1:02}") for month in range(_MONTHS)]
        for one in related:
            name = self._joined("snake" if one[-1].isdigit() else style, one)
            columns = self._columns(style, words)
            yield NamedTable(("lake", schema), name, columns, self._rows(len(columns)))

    def _columns(self, style: str, words: Words) -> tuple[Name, ...]:
        chance = self._chance
        wide = chance.random() < _WIDE_SHARE
        names = [*chance.sample(self._shared, chance.randint(1, 6)), (*words, "id")]
        count = _WIDE if wide else chance.randint(1, 15)
        names += [self._rare[self._skewed(_RARE)] for _ in range(count)]
        return tuple(self._joined(style, name) for name in dict.fromkeys(names))

    def _rows(self, columns: int) -> tuple[tuple[str, ...], ...]:
        return tuple(self._drawn(columns, columns) for _ in range(_ROWS))

    def _drawn(self, least: int, most: int) -> Words:
        count = self._chance.randint(least, most)
        return tuple(self._words[self._skewed(len(self._words))] for _ in range(count))

    def _skewed(self, size: int) -> int:
        return int(size * self._chance.random() ** 2)

    @staticmethod
    def _joined(style: str, words: Sequence[str]) -> Name:
        return Name(STYLES[style](tuple(words)), tuple(words))


SHORTEST_MISTYPED = 5
"""Letters of a name that is asked for with a typo: `cat` mistyped is `car`, `hat` or `at`."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is typed in, and the ids of the tables of which one must come first."""

    text: str
    right: frozenset[str]


class Asker:
    """Draws names of a lake and types them in."""

    def __init__(self, tables: Sequence[NamedTable], seed: int = 1) -> None:
        self._tables = tables
        self._chance = random.Random(seed)
        self._named: dict[str, set[str]] = defaultdict(set)
        self._having: dict[str, set[str]] = defaultdict(set)
        self._saying: dict[Words, set[str]] = defaultdict(set)
        for table in tables:
            self._named[table.name.letters].add(table.table_id)
            for part in _parts(table.name.words):
                self._saying[part].add(table.table_id)
            for column in table.columns:
                self._having[column.letters].add(table.table_id)

    def kinds(self, count: int) -> Iterator[tuple[str, list[Asked]]]:
        """Yield each way of asking, and `count` questions of it."""
        ways: dict[str, Callable[[NamedTable], Asked | None]] = {
            "table, whole": self._whole,
            "table, with its schema": self._with_schema,
            "table, in words": self._in_words,
            "table, a part": self._part,
            "table, one typo": self._mistyped,
            "column, whole": self._column,
            "column, one typo": self._column_mistyped,
        }
        for name, way in ways.items():
            asked = list(self._drawn(way, count))
            yield name, asked
            yield f"{name}, lower case", [Asked(one.text.lower(), one.right) for one in asked]

    def _drawn(self, way: Callable[[NamedTable], Asked | None], count: int) -> Iterator[Asked]:
        """Yield what is asked of tables drawn at random, as far as the lake has as many."""
        for _ in range(20 * count):
            asked = way(self._chance.choice(self._tables))
            if asked is not None:
                yield asked
                count -= 1
            if not count:
                return

    def _whole(self, table: NamedTable) -> Asked:
        return Asked(table.name.written, frozenset(self._named[table.name.letters]))

    def _with_schema(self, table: NamedTable) -> Asked:
        return Asked(f"{table.places[-1]}.{table.name.written}", frozenset([table.table_id]))

    def _in_words(self, table: NamedTable) -> Asked:
        return Asked(" ".join(table.name.words), frozenset(self._named[table.name.letters]))

    def _part(self, table: NamedTable) -> Asked | None:
        """Ask for some of a name's words, in words: any table is right whose name has them."""
        parts = [part for part in _parts(table.name.words) if not self._is_whole("".join(part))]
        if not parts:
            return None
        part = self._chance.choice(parts)
        return Asked(" ".join(part), frozenset(self._saying[part]))

    def _mistyped(self, table: NamedTable) -> Asked | None:
        typed = self._typo(table.name)
        return None if typed is None else Asked(typed, self._whole(table).right)

    def _column(self, table: NamedTable) -> Asked | None:
        column = self._chance.choice(table.columns) if table.columns else None
        if column is None or not column.letters or column.letters in self._named:
            return None  # a table of that name is as right
        return Asked(column.written, frozenset(self._having[column.letters]))

    def _column_mistyped(self, table: NamedTable) -> Asked | None:
        column = self._chance.choice(table.columns) if table.columns else None
        typed = None if column is None else self._typo(column)
        if column is None or typed is None or column.letters in self._named:
            return None
        return Asked(typed, frozenset(self._having[column.letters]))

    def _typo(self, name: Name) -> str | None:
        """Slip once, at a letter; None where that makes no typo or another name of the lake."""
        letters = [at for at, sign in enumerate(name.written) if sign.isalpha()]
        if len(name.letters) < SHORTEST_MISTYPED or not letters:
            return None
        at, text = self._chance.choice(letters), name.written
        new = self._chance.choice(ascii_lowercase)
        typed = self._chance.choice(
            [
                text[:at] + new + text[at:],
                text[:at] + text[at + 1 :],
                text[:at] + new + text[at + 1 :],
                text[:at] + text[at + 1 : at + 2] + text[at] + text[at + 2 :],
            ]
        )
        return None if self._is_whole(Name(typed, ()).letters) else typed

    def _is_whole(self, letters: str) -> bool:
        """Tell a whole name of the lake, which means what is called so."""
        return letters in self._named or letters in self._having


def _parts(words: Words) -> Iterator[Words]:
    """Yield the runs of a name's words but for all of them."""
    for length in range(1, len(words)):
        yield from (words[at : at + length] for at in range(len(words) - length + 1))


DIMENSION = 32
REAL = Path(__file__).resolve().parents[3].parent / "shared/data/lake"


class RandomEncoder:
    """The part of an encoder that asking needs; what it says of a text means nothing."""

    name, dimension = "random", DIMENSION

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        """Return a unit vector a text, shape (texts, DIMENSION)."""
        drawn = self._random.standard_normal((len(texts), DIMENSION), dtype=np.float32)
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=500, help="for each way of asking")
    parser.add_argument("--real", type=Path, default=REAL, help="a folder of folders of tables")
    parser.add_argument("--misses", type=int, default=0, help="print so many for each way")
    options = parser.parse_args()
    if options.tables:
        report(made_lake(options.tables), options.questions, options.misses)
    if options.real.is_dir():
        report(real_lake(options.real), options.questions, options.misses)


def report(tables: Sequence[NamedTable], questions: int, misses: int) -> None:
    """Index the tables, ask for their names and print a line for each way of asking."""
    encoder = RandomEncoder()
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(EmbeddedIndex(Path(folder) / "index", encoder.name, DIMENSION)) as index,
    ):
        index.replace_tables({table.table_id: _contents(table, encoder) for table in tables})
        size = index.info().size_bytes / 1e6
        print(f"{len(tables):,} tables, {size:.0f} MB", flush=True)
        engine = QueryEngine(index, encoder)
        engine.ask("load it")
        for name, asked in Asker(tables).kinds(questions):
            report_kind(engine, name, asked, misses)


def report_kind(engine: QueryEngine, name: str, asked: Sequence[Asked], misses: int) -> None:
    """Ask in one way and print what came of it."""
    found: list[list[TableResult]] = []
    timing = time_each(lambda one: found.append(engine.ask(one.text)), asked)
    hits = [
        [result.table_id in one.right for result in results]
        for one, results in zip(asked, found, strict=True)
    ]
    first, among = (np.mean([any(one[:most]) for one in hits]) for most in (1, 5))
    shown = f"hit@1 {first:.3f}  hit@5 {among:.3f}  p50 / p95 / cpu ms {timing}"
    print(f"  {name:35} {len(asked):4}  {shown}", flush=True)
    missed = [place for place, one in enumerate(hits) if not any(one[:1])]
    for place in missed[:misses]:
        got = [f"{r.table_id} ({r.parts.named})" for r in found[place][:2]]
        print(f"      {asked[place].text!r}: {sorted(asked[place].right)[:2]}, found {got}")


def _contents(table: NamedTable, encoder: RandomEncoder) -> TableContents:
    """Return the table's evidence, and a block that says its columns, in no known direction."""
    text = " | ".join(column.written for column in table.columns)
    block = Block(table.table_id, DocumentKind.SCHEMA, text or table.name.written)
    (vector,) = encoder.encode_queries([text])
    return TableContents([EmbeddedBlock(block, vector)], table.evidence())


if __name__ == "__main__":
    main()
