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
from itertools import islice
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pyarrow.parquet as pq

from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.query import QueryEngine
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
SHORTEST_MISTYPED = 5
"""Letters of a name that is asked for with a typo: `cat` mistyped is `car`, `hat` or `at`."""
DIMENSION = 32
REAL = Path(__file__).resolve().parents[3].parent / "shared/data/lake"


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
    """A table of the lake: its schema, its names and a few rows."""

    schema: str
    name: Name
    columns: tuple[Name, ...]
    rows: tuple[Words, ...] = ()

    @property
    def table_id(self) -> str:
        """As a source would call it."""
        return f"lake/{self.schema}/{self.name.written}"


def made_lake(tables: int) -> list[NamedTable]:
    """Return so many tables of different names, the same ones every time.

    Words are those of an English dictionary, the common ones more often.
    """
    chance = random.Random(0)
    listed = files("symspellpy") / "frequency_dictionary_en_82_765.txt"
    known = [line.split()[0] for line in listed.read_text("utf-8-sig").splitlines()]
    dictionary = [word for word in known[100:12_000] if 3 < len(word) < 11 and word.isalpha()]

    def skewed(size: int) -> int:
        return int(size * chance.random() ** 2)

    def drawn(least: int, most: int) -> Words:
        count = chance.randint(least, most)
        return tuple(dictionary[skewed(len(dictionary))] for _ in range(count))

    schemas = [("_".join(drawn(1, 2)), chance.choice([*STYLES])) for _ in range(80)]
    rare = [drawn(1, 3) for _ in range(20_000)]
    shared = [tuple(name.split("_")) for name in SHARED.split()]
    found: dict[str, NamedTable] = {}
    while len(found) < tables:
        schema, style = chance.choice(schemas)
        words = drawn(1, 3)
        for one in related(words, chance):
            few = chance.sample(shared, chance.randint(1, 6))
            count = 300 if chance.random() < 0.01 else chance.randint(1, 15)
            more = [rare[skewed(20_000)] for _ in range(count)]
            names = dict.fromkeys([*few, (*words, "id"), *more])
            columns = tuple(Name(STYLES[style](name), name) for name in names)
            rows = tuple(drawn(len(columns), len(columns)) for _ in range(3))
            written = STYLES["snake" if one[-1].isdigit() else style](one)
            table = NamedTable(schema, Name(written, one), columns, rows)
            found.setdefault(table.table_id.casefold(), table)
    return list(found.values())[:tables]


def related(words: Words, chance: random.Random) -> list[Words]:
    """Return the words of a table's name and of its relatives'."""
    names = [words]
    names += [(first, *words) for first in BEFORE if chance.random() < 0.1]
    names += [(*words, last) for last in AFTER if chance.random() < 0.15]
    if chance.random() < 0.05:
        year = str(chance.randint(2018, 2024))
        names += [(*words, year, f"{month + 1:02}") for month in range(12)]
    return names


def real_lake(folder: Path) -> list[NamedTable]:
    """Return the tables of a folder of folders of CSV and Parquet files, by their headers."""
    paths = sorted(p for p in folder.glob("*/*") if p.suffix in {".csv", ".parquet"})
    return [
        NamedTable(path.parent.name, as_written(path.stem), tuple(map(as_written, header(path))))
        for path in paths
    ]


def header(path: Path) -> list[str]:
    """Return the names of a file's columns."""
    if path.suffix == ".parquet":
        return [name for name in pq.read_schema(path).names if name]
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return [name for name in next(csv.reader(file)) if name]


def as_written(name: str) -> Name:
    return Name(name, tuple(name_parts(name)))


Asked = tuple[str, frozenset[str]]
"""What is typed in, and the ids of the tables of which one must come first."""


class Asker:
    """Draws names of a lake and types them in."""

    def __init__(self, tables: Sequence[NamedTable]) -> None:
        self._tables, self._chance = tables, random.Random(1)
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
        """Yield each way of asking, and `count` questions of it, as far as the lake has as many."""
        chance = self._chance
        ways: dict[str, Callable[[NamedTable], Asked | None]] = {
            "table, whole": lambda t: self._of_table(t, t.name.written),
            "table, with its schema": lambda t: (
                f"{t.schema}.{t.name.written}", frozenset([t.table_id])
            ),
            "table, in words": lambda t: self._of_table(t, " ".join(t.name.words)),
            "table, a part": self._part,
            "table, one typo": lambda t: self._of_table(t, self._typo(t.name)),
            "column, whole": lambda t: self._column(t, typo=False),
            "column, one typo": lambda t: self._column(t, typo=True),
        }  # fmt: skip
        for name, way in ways.items():
            drawn = (way(chance.choice(self._tables)) for _ in range(20 * count))
            asked = [*islice((one for one in drawn if one is not None and one[0]), count)]
            yield name, asked
            yield f"{name}, lower case", [(text.lower(), right) for text, right in asked]

    def _of_table(self, table: NamedTable, text: str) -> Asked:
        return text, frozenset(self._named[table.name.letters])

    def _part(self, table: NamedTable) -> Asked | None:
        """Ask for some of a name's words, in words: any table is right whose name has them."""
        parts = [part for part in _parts(table.name.words) if not self._is_whole("".join(part))]
        if not parts:
            return None
        part = self._chance.choice(parts)
        return " ".join(part), frozenset(self._saying[part])

    def _column(self, table: NamedTable, *, typo: bool) -> Asked | None:
        column = self._chance.choice(table.columns) if table.columns else None
        if column is None or not column.letters or column.letters in self._named:
            return None  # a table of that name is as right
        text = self._typo(column) if typo else column.written
        return text, frozenset(self._having[column.letters])

    def _typo(self, name: Name) -> str:
        """Slip once, at a letter; empty where that makes no typo or another name of the lake."""
        letters = [at for at, sign in enumerate(name.written) if sign.isalpha()]
        if len(name.letters) < SHORTEST_MISTYPED or not letters:
            return ""
        at, text = self._chance.choice(letters), name.written
        new = self._chance.choice(ascii_lowercase)
        turned = text[at + 1 : at + 2] + text[at] + text[at + 2 :]
        ends = (new + text[at:], text[at + 1 :], new + text[at + 1 :], turned)
        typed = text[:at] + self._chance.choice(ends)
        return "" if self._is_whole(as_written(typed).letters) else typed

    def _is_whole(self, letters: str) -> bool:
        """Tell a whole name of the lake, which means what is called so."""
        return letters in self._named or letters in self._having


def _parts(words: Words) -> Iterator[Words]:
    """Yield the runs of a name's words but for all of them."""
    for length in range(1, len(words)):
        yield from (words[at : at + length] for at in range(len(words) - length + 1))


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
    options = parser.parse_args()
    if options.tables:
        report(made_lake(options.tables), options.questions)
    if options.real.is_dir():
        report(real_lake(options.real), options.questions)


def report(tables: Sequence[NamedTable], questions: int) -> None:
    """Index the tables, ask for their names and print a line for each way of asking."""
    encoder = RandomEncoder()
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(EmbeddedIndex(Path(folder) / "index", encoder.name, DIMENSION)) as index,
    ):
        index.replace_tables({table.table_id: contents(table, encoder) for table in tables})
        print(f"{len(tables):,} tables, {index.info().size_bytes / 1e6:.0f} MB", flush=True)
        engine = QueryEngine(index, encoder)
        engine.ask("load it")
        for name, asked in Asker(tables).kinds(questions):
            hits: list[tuple[bool, bool]] = []
            timing = time_each(lambda one, hits=hits: hits.append(hit(engine, *one)), asked)
            first, among = np.mean(hits, axis=0)
            shown = f"hit@1 {first:.3f}  hit@5 {among:.3f}  p50 / p95 / cpu ms {timing}"
            print(f"  {name:35} {len(asked):4}  {shown}", flush=True)


def hit(engine: QueryEngine, text: str, right: frozenset[str]) -> tuple[bool, bool]:
    """Tell whether a right table is first, and among the first five."""
    found = [result.table_id for result in engine.ask(text)]
    return not right.isdisjoint(found[:1]), not right.isdisjoint(found[:5])


def contents(table: NamedTable, encoder: RandomEncoder) -> TableContents:
    """Return the table's evidence, and a block that says its columns, in no known direction."""
    columns = tuple(column.written for column in table.columns)
    names = ("lake", table.schema, table.name.written)
    text = " | ".join(columns) or table.name.written
    (vector,) = encoder.encode_queries([text])
    block = EmbeddedBlock(Block(table.table_id, DocumentKind.SCHEMA, text), vector)
    terms = TableTerms(names=names, columns=columns, rows=table.rows)
    return TableContents([block], spell_out(terms, ()))


if __name__ == "__main__":
    main()
