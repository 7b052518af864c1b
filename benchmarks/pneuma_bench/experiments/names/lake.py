"""A made lake of tables named as people name them, and the names of a folder of real ones.

Every schema writes its names in its own way: `order_items`, `orderItems`, `OrderItems` or, glued,
`orderitems`. Tables have relatives (`orders`, `orders_archive`, `stg_orders`), series go on by date
(`sales_2023_01`), columns are shared (`id`, `created_at`), of the table (`order_id`) or rarer.
"""

import csv
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pyarrow.parquet as pq

from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import spell_out

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
