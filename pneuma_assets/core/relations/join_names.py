"""What names of columns and tables say when joins are looked for, read schema by schema.

A schema's tables tell how its names are written: what is put before all of them (`sbCustId`), which
words are glued (`custid`), and which are cut short (`cstmr` where a table is called customers).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pneuma_assets.core.relations.join_column_facts import JoinColumn
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import (
    Parts,
    has_letters,
    known_words,
    may_be_short,
    parted,
    shared_prefix,
    singular,
    without_prefix,
)
from pneuma_assets.core.text.abbreviations import ABBREVIATIONS

Words = tuple[str, ...]

KEY_WORDS = {
    **dict.fromkeys(("identifier", "id", "key", "uuid", "guid", "pk", "fk", "sk"), "id"),
    **dict.fromkeys(("code", "cd"), "code"),
    **dict.fromkeys(("number", "no", "nr", "nummer"), "number"),
    "name": "name",
}
"""Words at the end of a key's name, and the kind of key that they tell."""

_NO_KEY_WORDS = """
time date datetime timestamp at price cost amount total count sum average avg min max rate percent
score length width height weight size age year month day population pop page duration percentage
ratio share discount tax fee quantity qty balance salary latitude longitude
firstname middlename lastname givenname familyname fullname surname forename nickname
email mail emailaddress phone phonenumber telephone mobile fax faxnumber password url website
homepage rowguid rowversion
"""
_NO_KEYS = frozenset(_NO_KEY_WORDS.split())
"""How names end of what is measured or counted, of how people are called and reached, and of what a
server gives each row of every table: two tables that have it need not speak of the same."""

ROLES = frozenset({"parent", "previous", "next", "predecessor", "successor"})
ROLES_OF_PEOPLE = frozenset({"report", "manager", "supervisor", "superior", "boss"})
"""What rows are to others of their own table: `parent_id`, and in one of people `reports_to`."""
PEOPLE = frozenset(
    {"employee", "staff", "person", "people", "personnel", "worker", "user", "member"}
)

_JOINTS = "s", "n", "en", "es"
"""Between the nouns of a German compound."""
_VOWELS = frozenset("aeiou")
_MOST_PREFIXES, _MOST_ALIKE = 4, 200
_SHORTEST_CUT, _CUT_SHARE = 3, 4
_LEAST_COLUMNS = 3
_MOST_WORDS, _LONGEST_RUN = 6, 3
"""Of a name, the last words are looked up, and up to so many of them as one."""


@dataclass(eq=False)
class NamedColumn:
    """A column, and what its name says.

    Attributes:
        column: The column.
        name: Its name as one word: case, signs, plurals and what is before all names do not count.
        words: Those of its name, spelt out.
        stems: What it is the key of: its words but for that which says so, and these without what
            is before all names of its table.
        kind: Of key, by the last word; None where that tells none.
        entity: The words of its table's name.
        own: How plainly it is its table's own key by name, from 3 to 0.
        is_key: Whether it may be referred to.
        refers: Whether it may refer to another one.
    """

    column: JoinColumn
    name: str
    words: Words
    stems: tuple[Words, ...]
    kind: str | None
    entity: Words
    own: int = 0
    is_key: bool = False
    refers: bool = False

    @cached_property
    def runs(self) -> Sequence[str]:
        """What it may call a key: its whole name after `=`, and runs of its last words as one."""
        runs = {f"={self.name}": None, "=" + "".join(self.words): None}
        for stem in (one[-_MOST_WORDS:] for one in self.stems):
            for start in range(len(stem)):
                ends = range(start + 1, min(start + _LONGEST_RUN, len(stem)) + 1)
                runs |= dict.fromkeys("".join(stem[start:end]) for end in ends)
        return list(runs)


def ends(words: Words, ending: Words) -> bool:
    """Tell whether words end so."""
    return bool(ending) and words[-len(ending) :] == ending


def _ownership(column: NamedColumn) -> int:
    return 3 if column.column.declared else max(_own(column, stem) for stem in column.stems)


def _own(column: NamedColumn, stem: Words) -> int:
    entity, letters = column.entity, "".join(stem)
    names_rows = column.kind not in {None, "name"}
    if not stem or stem == entity:
        return 3 if names_rows or (stem and not column.kind) else 2 * bool(stem)
    begins = entity[: len(stem)] == stem or ends(entity, stem)
    if not names_rows:
        return int(begins)
    is_short = len(letters) <= _SHORTEST_CUT and (
        entity[0].startswith(letters) or letters == "".join(word[0] for word in entity)
    )
    if begins or is_short or ends(stem, entity):
        return 2
    return int(column.column.place == 0 and column.kind == "id")


def names_its_table(column: JoinColumn) -> bool:
    """Tell whether a column is plainly its table's key by its name."""
    return next(SchemaNames({column.table_id: [column]}).columns()).own > 2


class SchemaNames:
    """Reads the names of one schema's tables and columns."""

    def __init__(self, tables: Mapping[str, Sequence[JoinColumn]]) -> None:
        self._tables = tables
        self._parts = {
            table_id: [name_parts(column.name) for column in columns]
            for table_id, columns in tables.items()
        }
        names = {table_id: name_parts(table_id.rpartition("/")[2]) for table_id in tables}
        self._prefixes = _prefixes([*names.values()])
        self._known = {*known_words([*names.values()]), *self._prefixes}
        self._spelt: dict[str, Words] = {}
        parts = {table_id: self._parted(one) for table_id, one in names.items()}
        layers = self._layers([*parts.values()])
        bare = {
            table_id: one[1:] if len(one) > 1 and one[0] in layers else one
            for table_id, one in parts.items()
        }
        self._words = Counter(
            singular(word)
            for one in bare.values()
            for part in one
            for word in ABBREVIATIONS.get(part, part).split()
        )
        self._by_letter: dict[str, list[str]] = defaultdict(list)
        for word in sorted(self._words, key=lambda word: (-self._words[word], len(word), word)):
            self._by_letter[word[:1]].append(word)
        self._entities = {table_id: self._spell(one) for table_id, one in bare.items()}

    def columns(self) -> Iterator[NamedColumn]:
        """Yield every column of the schema with what its name says."""
        for table_id, columns in self._tables.items():
            parts = [self._parted(name) for name in self._parts[table_id]]
            before = _before_all(parts)
            for column, one in zip(columns, parts, strict=True):
                words, short = self._spell(one), self._spell(one[before:])
                kind = KEY_WORDS.get(words[-1]) if words else None
                end = -1 if kind else None
                stems = tuple(dict.fromkeys((short[:end], words[:end])))
                name, entity = "".join(map(singular, one)), self._entities[table_id]
                named = NamedColumn(column, name, words, stems, kind, entity)
                named.own = _ownership(named)
                last = {*one[-1:], *words[-1:], "".join(one[-2:])}
                says_what = kind or len("".join(words)) >= _SHORTEST_CUT
                is_key = says_what and words != ("name",) and _NO_KEYS.isdisjoint(last)
                several = kind is None and _is_plural(one[-1:])
                named.refers = bool(is_key) and any(named.stems) and not several
                by_name = named.own >= 2 or column.place == 0
                unique = by_name if column.is_unique is None else column.is_unique
                named.is_key = column.declared or bool(is_key and unique)
                yield named

    def _layers(self, tables: Sequence[Parts]) -> set[str]:
        """Return words that names of tables begin with and nothing else says: `dim` and `fct`."""
        firsts = Counter(one[0] for one in tables if len(one) > 1)
        inside = {word for one in tables for word in one[len(one) > 1 :]}
        inside.update(part for names in self._parts.values() for name in names for part in name)
        return {word for word, count in firsts.items() if count > 1} - inside

    def _parted(self, parts: Parts) -> Words:
        for prefix in self._prefixes:
            parts = without_prefix(parts, prefix)
        words = tuple(word for part in parts for word in parted(part, self._known)) or tuple(parts)
        if len(words) == 1 and 2 < len(words[0]) < 5 and words[0].endswith("id"):
            return (
                words[0][:-2],
                "id",
            )  # `aid` of an author; English words alone would not part it
        return words

    def _spell(self, parts: Iterable[str]) -> Words:
        for part in parts:
            if part not in self._spelt:
                self._spelt[part] = tuple(self._in_full(part))
        return tuple(word for part in parts for word in self._spelt[part])

    def _in_full(self, part: str) -> Iterable[str]:
        """Return the words that one stands for: an abbreviation, or short for one of a table."""
        if part in ABBREVIATIONS:
            return map(singular, ABBREVIATIONS[part].split())
        one = singular(part)
        if one in self._words or one in KEY_WORDS:
            return [one]
        cut = (one.removesuffix(joint) for joint in _JOINTS if len(one) > len(joint) + 3)
        compound = next((word for word in cut if word in self._words), None)
        if compound or not may_be_short(one):
            return [compound or one]
        words = self._by_letter[one[0]][:_MOST_ALIKE]
        begin = [word for word in words if word.startswith(one)]
        if len(one) < _SHORTEST_CUT:
            return begin if len(begin) == 1 else [one]
        if begin or not _VOWELS.isdisjoint(one[1:]):
            return [*begin, one][:1]
        within = (w for w in words if len(w) <= _CUT_SHARE * len(one) and has_letters(w, one))
        return [next(within, one)]


def _is_plural(words: Sequence[str]) -> bool:
    return any(word.endswith("s") and word != singular(word) for word in words)


def _prefixes(names: Sequence[Parts]) -> list[str]:
    """Return what is put before all names of tables, one behind the other."""
    found: list[str] = []
    while len(found) < _MOST_PREFIXES and (prefix := shared_prefix(names)):
        shorter = [without_prefix(one, prefix) for one in names]
        if shorter == names:
            break
        found.append(prefix)
        names = shorter
    return found


def _before_all(names: Sequence[Parts]) -> int:
    """Return how many words are the same before all names of a table."""
    if len(names) < _LEAST_COLUMNS:
        return 0
    most = min(map(len, names)) - 1
    return next((at for at in range(most) if len({one[at] for one in names}) > 1), max(0, most))
