"""Databases renamed as people name them who glue, shorten and prefix words, by rules of its own.

A word is written the same way in all columns of a database. None of these rules is one that names
are read by: they say how names come to be, and the measurement how well they are read.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random

from pneuma_bench.experiments.support.key_databases import KeyDatabase, KnownCells
from pneuma_bench.keys import chance_of

Words = tuple[str, ...]
Writer = Callable[[Words], str]
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_GERMAN_NOUNS = """
address:adresse age:alter amount:betrag author:autor birth:geburt book:buch branch:filiale
building:gebäude business:betrieb card:karte category:kategorie city:stadt class:klasse
client:mandant company:firma contract:vertrag country:land course:kurs customer:kunde
date:datum department:abteilung description:beschreibung document:dokument employee:mitarbeiter
end:ende event:ereignis first:vor flight:flug invoice:rechnung item:posten last:nach location:ort
member:mitglied method:methode number:nummer order:bestellung part:teil party:partei
payment:zahlung phone:telefon player:spieler price:preis product:produkt project:projekt
property:eigenschaft room:raum school:schule service:dienst staff:personal start:beginn state:staat
store:laden supplier:lieferant teacher:lehrer time:zeit title:titel total:gesamt track:spur type:art
year:jahr
"""
_GERMAN = dict(pair.split(":") for pair in _GERMAN_NOUNS.split())
_JOINTS = {"e": "n", "g": "s", "t": "s"}
"""What stands between two nouns of a compound, by the last letter of the first."""


def renamed(database: KeyDatabase) -> Iterator[KeyDatabase]:
    """Yield a database once for each way of naming."""
    for way, naming in _WAYS.items():
        chance = chance_of(0, way, database.name)
        table_names = {one: one.removeprefix("s/") for one in database.lake}
        tables, column_of = naming(chance, database.name)
        taken: set[str] = set()
        new_table = {one: _free(tables(_words(bare)), taken) for one, bare in table_names.items()}
        yield _apply(database, way, new_table, column_of)


Namer = Callable[[Words, Words], str]
"""Names a column: the words of its table and its own."""


def _apply(
    database: KeyDatabase, way: str, tables: dict[str, str], column_of: Namer
) -> KeyDatabase:
    lake, cells, new = {}, KnownCells(), {}
    for old, columns in database.lake.items():
        table_id, taken = f"s/{tables[old]}", set[str]()
        names = [_free(column_of(_words(old[2:]), _words(one.name)), taken) for one in columns]
        lake[table_id] = [
            replace(one, table_id=table_id, name=name)
            for one, name in zip(columns, names, strict=True)
        ]
        for one, name in zip(columns, names, strict=True):
            new[old[2:], one.name] = (tables[old], name)
        if old in database.cells.of_tables:
            cells.of_tables[table_id] = database.cells.of_tables[old]
    gold = frozenset(
        (*new[a, mine], *new[b, theirs])
        for a, mine, b, theirs in database.gold
        if (a, mine) in new and (b, theirs) in new
    )
    kind = f"{way} ({'rows' if database.kind.endswith('rows') else 'names alone'})"
    return replace(database, kind=kind, lake=lake, gold=gold, cells=cells)


def _words(name: str) -> Words:
    return tuple(word.lower() for word in _WORD.findall(name)) or (name.lower(),)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "2"
    taken.add(name)
    return name


def _capitals(words: Sequence[str]) -> str:
    return "".join(word.capitalize() for word in words)


def _short(word: str, length: int) -> str:
    """Return the first letter and the next consonants, as `cstmr` and `tx` are made."""
    bare = word[0] + re.sub("[aeiou]", "", word[1:])
    return bare[:length]


def _prefixed(chance: Random, database: str) -> tuple[Writer, Namer]:
    """`sbTransaction.sbTxCustId` refers to `sbCustomer.sbCustId`: schema, table, word cut short."""
    schema = "".join(word[0] for word in _words(database))[:2] + chance.choice("abcx")

    def column(table: Words, words: Words) -> str:
        of_table = "" if words[0][:3] == table[0][:3] else _short(table[0], 2).capitalize()
        return schema + of_table + _capitals([word[:4] for word in words])

    return lambda words: schema + _capitals(words), column


def _layered(chance: Random, _: str) -> tuple[Writer, Namer]:
    """`fct_orders.customer_id` refers to `dim_customer.customer_id`; or all tables are `tbl_`."""
    layers = chance.choice([("tbl_",), ("dim_", "fct_"), ("t_",), ("stg_",)])
    return lambda words: chance.choice(layers) + "_".join(words), lambda _, words: "_".join(words)


def _glued(_: Random, __: str) -> tuple[Writer, Namer]:
    """`orderitem.customerid`: words without a sign between, in lower case."""
    return "".join, lambda _, words: "".join(words)


def _vowelless(chance: Random, _: str) -> tuple[Writer, Namer]:
    """`cstmr_id` and the table `customers`, or `cstmrs`: long words without vowels."""
    in_tables = chance.random() < 0.5

    def write(words: Words) -> str:
        return "_".join(_short(word, 6) if len(word) > 4 else word for word in words)

    return write if in_tables else "_".join, lambda _, words: write(words)


def _cut(chance: Random, _: str) -> tuple[Writer, Namer]:
    """`cust_addr` for customer address: words cut to three or four letters, in columns at least."""
    length, in_tables = chance.choice([3, 4]), chance.random() < 0.5

    def write(words: Words) -> str:
        return "_".join(word[:length] for word in words)

    return write if in_tables else "_".join, lambda _, words: write(words)


def _compounds(chance: Random, _: str) -> tuple[Writer, Namer]:
    """`Kundennummer` refers to `Kunde`: German compounds of the words that have one here."""
    key = chance.choice(["nummer", "nr", "id"])

    def german(word: str) -> str:
        singulars = (word, word.removesuffix("s"), word.removesuffix("es"), word[:-3] + "y")
        nouns = (_GERMAN[one] for one in singulars if one in _GERMAN)
        return next(nouns, key if word == "id" else word)

    def write(words: Words) -> str:
        nouns = [german(word) for word in words]
        joined = [noun + _JOINTS.get(noun[-1], "") for noun in nouns[:-1]]
        return "".join([*joined, nouns[-1]]).capitalize()

    return write, lambda _, words: write(words)


_WAYS = {
    "prefixes of schema and table": _prefixed,
    "prefixes of layers": _layered,
    "glued": _glued,
    "vowels dropped": _vowelless,
    "cut short": _cut,
    "German compounds": _compounds,
}
