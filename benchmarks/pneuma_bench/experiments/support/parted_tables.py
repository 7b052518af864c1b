"""Tables in parts, named as people name them: a year, day, quarter, shard or region each.

That is how names come to be; the rules by which families are found are others, with other lists of
regions. `HELD` are writings that nobody looked at while those rules were mended.
"""

import csv
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random

_TITLE, _TAG = re.compile(r"<h2[^>]*>(.*?)</h2>", re.DOTALL), re.compile(r"<[^>]*>|\s+")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STATES = """ca:California tx:Texas ny:New_York fl:Florida il:Illinois wa:Washington oh:Ohio
ga:Georgia or:Oregon in:Indiana me:Maine nc:North_Carolina wv:West_Virginia va:Virginia"""
_COUNTRIES = """us:United_States de:Germany fr:France it:Italy es:Spain in:India br:Brazil jp:Japan
mx:Mexico ca:Canada za:South_Africa pl:Poland at:Austria no:Norway kr:South_Korea"""
_MARKETS = "EMEA:EMEA APAC:APAC LATAM:LATAM NA:North_America DACH:DACH"
_CONTINENTS = "eu:Europe as:Asia af:Africa oc:Oceania sa:South_America"
_OTHERS = (
    *("items", "lines", "detail", "summary", "status", "types", "totals", "errors", "audit", "map"),
    *("notes", "history", "raw", "final", "daily", "main", "keys", "links", "changes", "plan"),
)
_COMPASS = "n:the_north s:the_south e:the_east w:the_west"


@dataclass(frozen=True, slots=True)
class Part:
    """How a part is written in a name, `_` between its pieces, and how a question says it."""

    written: str
    said: str = ""


Writing = Callable[[Random], list[Part]]
"""Draws the parts of one thing, the oldest or first one first."""


def _dates(written: str, said: str, *, months: int = 0, days: int = 0) -> Writing:
    def drawn(chance: Random) -> list[Part]:
        year, month = chance.randint(1995, 2016), chance.choice((1, 4, 7, 10))
        at = date(year, 1 if months == 12 else month, chance.randint(1, 28) if days == 1 else 1)
        every = []
        for _ in range(chance.randint(4, 9)):
            told = {"d": at, "q": (at.month + 2) // 3, "h": 1 + at.month // 7, "n": at.year + 1}
            every.append(Part(written.format(**told), said.format(**told)))
            year, month = divmod(12 * at.year + at.month - 1 + months, 12)
            at = date(year, month + 1, at.day) + timedelta(days)
        if chance.random() < 0.3:
            every.pop(chance.randrange(1, len(every) - 1))
        return every

    return drawn


def _numbers(written: str) -> Writing:
    def drawn(chance: Random) -> list[Part]:
        first, count = chance.randint(0, 1), chance.randint(4, 12)
        return [Part(written.format(n=first + n, of=count)) for n in range(count)]

    return drawn


def _places(listed: str, written: str) -> Writing:
    pairs = [one.split(":") for one in listed.split()]

    def drawn(chance: Random) -> list[Part]:
        few = chance.sample(pairs, chance.randint(3, min(6, len(pairs))))
        return [
            Part(
                written.format(code=code, name=name.removeprefix("the_")),
                f"in {name.replace('_', ' ')}",
            )
            for code, name in sorted(few)
        ]

    return drawn


_YEAR, _MONTH, _DAY = "in {d:%Y}", "in {d:%B} {d:%Y}", "on {d:%B} {d.day}, {d:%Y}"
SEEN: Mapping[str, Writing] = {
    "2019": _dates("{d:%Y}", _YEAR, months=12),
    "19": _dates("{d:%y}", _YEAR, months=12),
    "FY2019": _dates("FY{d:%Y}", "in fiscal year {d:%Y}", months=12),
    "2019_01": _dates("{d:%Y}_{d:%m}", _MONTH, months=1),
    "201901": _dates("{d:%Y%m}", _MONTH, months=1),
    "Jan_2019": _dates("{d:%b}_{d:%Y}", _MONTH, months=1),
    "20190115": _dates("{d:%Y%m%d}", _DAY, days=1),
    "2019_01_15": _dates("{d:%Y}_{d:%m}_{d:%d}", _DAY, days=1),
    "15_01_2019": _dates("{d:%d}_{d:%m}_{d:%Y}", _DAY, days=1),
    "2019_Q3": _dates("{d:%Y}_Q{q}", "in Q{q} {d:%Y}", months=3),
    "Q3_2019": _dates("Q{q}_{d:%Y}", "in the Q{q} of {d:%Y}", months=3),
    "part_003": _numbers("part_{n:03}"),
    "3": _numbers("{n}"),
    "ca": _places(_STATES, "{code}"),
    "California": _places(_STATES, "{name}"),
    "de": _places(_COUNTRIES, "{code}"),
    "Germany": _places(_COUNTRIES, "{name}"),
    "EMEA": _places(_MARKETS, "{code}"),
    "north": _places(_COMPASS, "{name}"),
}
HELD: Mapping[str, Writing] = {
    "2019_20": _dates("{d:%Y}_{n:02.0f}", "in the {d:%Y}/{n} season", months=12),
    "2019_2020": _dates("{d:%Y}_{n}", "in the school year {d:%Y} to {n}", months=12),
    "FY19": _dates("FY{d:%y}", "in fiscal year {d:%Y}", months=12),
    "Jan19": _dates("{d:%b%y}", _MONTH, months=1),
    "2019_January": _dates("{d:%Y}_{d:%B}", _MONTH, months=1),
    "01152019": _dates("{d:%m%d%Y}", _DAY, days=1),
    "2019_W07": _dates("{d:%G}_W{d:%V}", "in week {d:%V} of {d:%G}", days=7),
    "2019H1": _dates("{d:%Y}H{h}", "in H{h} {d:%Y}", months=6),
    "3Q19": _dates("{q}Q{d:%y}", "in Q{q} {d:%Y}", months=3),
    "00003_of_00010": _numbers("{n:05}_of_{of:05}"),
    "shard3": _numbers("shard{n}"),
    "Europe": _places(_CONTINENTS, "{name}"),
}
JOINERS = {"snake": "_", "kebab": "-", "spaces": " ", "camel": ""}
POSITIONS = ("suffix", "prefix", "infix", "folder")


def name_of_part(name: str, part: str, position: str, joiner: str) -> str:
    """Return the name of a part, behind a folder where that is its position.

    Infix is before the last word of the name. Where nothing joins them, words begin with a capital,
    but for names in capitals, where nobody could read that.
    """
    joiner = joiner or "_" * name.isupper()
    pieces = [*filter(None, part.split("_"))]
    last = [*_WORD.finditer(name)][-1:]
    at = last[0].start() if position == "infix" and last and last[0].start() else len(name)
    head, tail = ("", name) if position == "prefix" else (name[:at], name[at:])
    if position == "folder":
        return f"{_joined(pieces, joiner)}/{name}"
    return _joined([head.rstrip("_- "), *pieces, tail], joiner)


def _joined(pieces: Sequence[str], joiner: str) -> str:
    pieces = [one for one in pieces if one]
    text = pieces[0]
    if not joiner and len(text) == 2 and text.isalpha():
        text = text.upper()
    for one in pieces[1:]:
        if joiner:
            text += joiner + one
        elif text[-1].isdigit() and one[0].isdigit():
            text += f"_{one}"
        else:
            text += one.upper() if len(one) == 2 else f"{one[0].upper()}{one[1:]}"
    return text


@dataclass(frozen=True, slots=True)
class Named:
    """A table: where it lies, its name, columns and rows."""

    place: str
    name: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]] = ()

    @property
    def table_id(self) -> str:
        """As a source would call it."""
        return f"{self.place}/{self.name}"

    @property
    def dotted(self) -> str:
        """Its id in the files of a set."""
        return self.table_id.replace(".", "_").replace("/", ".")

    @property
    def line(self) -> dict[str, object]:
        """What a set's file has of it."""
        rows = [*map(list, self.rows)]
        return {"id": self.dotted, "name": self.dotted, "columns": self.columns, "rows": rows}


@dataclass(frozen=True, slots=True)
class Planted:
    """A table in parts, each with what a question says of it, the oldest first.

    `others` have its columns and are no parts; `ways` are writing, position and style.
    """

    whole: Named
    ways: tuple[str, str, str]
    parts: Sequence[tuple[Named, str]]
    others: Sequence[Named]
    is_dated: bool

    @property
    def all(self) -> list[Named]:
        """The parts, and the others."""
        return [*(one for one, _ in self.parts), *self.others]


def plant(whole: Named, way: str, writing: Writing) -> Planted:
    """Return a table in parts that are written in one way, the same ones every time."""
    chance = Random(f"{whole.table_id} {way}")
    position, style = chance.choice(POSITIONS), chance.choice([*JOINERS])
    made = writing(chance)
    if position == "folder" and not made[0].said:
        position = "suffix"
    grown = chance.randint(1, 2 * len(made)) if len(whole.columns) > 5 else len(made)
    parts = []
    for number, part in enumerate(made):
        columns = (*whole.columns, "loaded_by") if number >= grown else whole.columns
        name = name_of_part(whole.name, part.written, position, JOINERS[style])
        folder, _, own = f"{whole.place}/{name}".rpartition("/")
        rows = [[*row, "etl"][: len(columns)] for row in whole.rows[number :: len(made)]]
        parts.append((Named(folder, own, columns, rows), part.said))
    apart = (*chance.sample(_OTHERS, 2), str(chance.choice((1040, 941, 8086))))
    names = (f"{whole.name}{JOINERS[style] or '_'}{word}" for word in apart)
    others = [Named(whole.place, one, whole.columns, whole.rows) for one in names]
    is_dated = bool(made[0].said) and any(map(str.isdigit, made[0].written))
    return Planted(whole, (way, position, style), parts, others, is_dated)


Set = tuple[dict[str, Named], dict[str, str]]
"""The tables of a set by their ids in its files; of those that a question needs one question."""


def read_set(path: Path) -> Set:
    """Return a set of a folder."""
    tables, asked = {}, {}
    for line in map(json.loads, path.read_text("utf-8").splitlines()):
        place, _, name = line["id"].replace("/", "_").rpartition(".")
        tables[line["id"]] = Named(f"s/{place}", name, (*line["columns"],), line["rows"])
    queries = path.with_name(path.name.replace(".tables.", ".queries.")).read_text("utf-8")
    for line in map(json.loads, queries.splitlines()):
        asked |= dict.fromkeys(line["tables"], line["question"])
    return tables, {one: asked[one] for one in asked if len(tables[one].columns) > 1}


TWICE = frozenset(
    """datasets/morley MASS/michelson AER/OECDGas stevedata/gas_demand causaldata/gapminder
    gapminder/gapminder gapminder/gapminder_unfiltered carData/Hartnagel crimedatasets/Hartnagel_df
    datasets/USJudgeRatings crimedatasets/USJudgeRatings_df datasets/crimtab
    crimedatasets/crimtab_table fivethirtyeight/hate_crimes crimedatasets/hate_crimes_tbl_df
    carData/Mroz causaldata/Mroz AER/Journals Ecdat/Journals""".split()  # noqa: SIM905
)
"""Tables of the lake that are there twice, looked at by hand: none of them is put into parts."""


def read_lake(folder: Path) -> Set:
    """Return the CSV files of a lake that have more than 20 rows, asked for by their titles."""
    tables, asked = {}, {}
    for path in sorted(folder.glob("*/*.csv")):
        found = _TITLE.search(path.with_suffix(".html").read_text("utf-8", "replace"))
        title = _TAG.sub(" ", html.unescape(found.group(1))).strip() if found else ""
        if f"{path.parent.name}/{path.stem}" in TWICE or len(title.split()) < 3:
            continue
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            header, *rows = csv.reader(file)
        if len(rows) >= 20:
            table_id = f"{path.parent.name}.{path.stem}"
            tables[table_id] = Named(f"s/{path.parent.name}", path.stem, (*header,), rows[:200])
            asked[table_id] = title
    return tables, asked
