"""Which columns of a table the rules of a deployment hide.

Wherever a rule can be understood in two ways, both match: hiding too much is seen and corrected.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cached_property
from itertools import pairwise
from urllib.parse import unquote

from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.tables import LISTED_VALUES, Column, content_hash

_NESTED = re.compile(r"<|\b(struct|row|record|union|map|object|tuple|nested)\b", re.IGNORECASE)
_WORD = re.compile(rf'"((?:[^"]|"")*)"|`([^`]*)`|{LISTED_VALUES.pattern}|(\w+)', re.IGNORECASE)
"""The name of a field or of a type; values that a type lists are neither."""
_CUT = "…"
_NUMBERED = re.compile(r"(.+?)(?:_\d+)+", re.DOTALL)
_TAG = re.compile(r"(?<![\w.@])@([\w.:-]*\w)|\[([\w.: -]+)\]")
_LONGEST_ID = 20
"""Parts of a table's id that a pattern may name."""


@dataclass(frozen=True)  # no slots: it caches
class Rules:
    """The rules of one source, those of all sources among them."""

    config: PrivacyConfig = field(default_factory=PrivacyConfig)

    @property
    def hide_anything(self) -> bool:
        """Whether any column may be hidden."""
        rules = self.config
        return bool(rules.schema_only or rules.hidden_columns or rules.hidden_tags)

    @property
    def digest(self) -> str:
        """Names the rules; that of none is empty."""
        return content_hash(self.config.model_dump_json()) if self.hide_anything else ""

    def hidden(self, table_id: str, columns: Sequence[Column]) -> frozenset[int]:
        """Return the positions of the columns whose values are never kept."""
        if self.config.schema_only:
            return frozenset(range(len(columns)))
        tables = _names_of_table([unquote(part, errors="replace") for part in table_id.split("/")])
        others = frozenset(_folded(column.name) for column in columns)
        hides = (self._hides(column, tables, others) for column in columns)
        return frozenset(position for position, hidden in enumerate(hides) if hidden)

    def names(self, name: str, table: Sequence[str]) -> bool:
        """Tell whether a column is meant of which nothing but its name is known."""
        tables = _names_of_table(table)
        return any(pattern.matches(_folded(name), tables) for pattern in self._columns)

    def _hides(self, column: Column, tables: Sequence[str], others: frozenset[str]) -> bool:
        nested = _NESTED.search(LISTED_VALUES.sub(r"\1", column.type)) is not None
        if self._columns and nested and column.type.endswith(_CUT):  # not all fields are known
            return True
        names = _names_of_column(column.name, column.type if nested else "", others)
        if any(pattern.matches(name, tables) for pattern in self._columns for name in names):
            return True
        tags = [_folded(at or bracketed) for at, bracketed in _TAG.findall(column.comment)]
        return any(pattern.matches(tag) for pattern in self._tags for tag in tags)

    @cached_property
    def _columns(self) -> list["_NamePattern"]:
        return [_NamePattern(text) for text in self.config.hidden_columns]

    @cached_property
    def _tags(self) -> list["_NamePattern"]:
        return [_NamePattern(text) for text in self.config.hidden_tags]


class _NamePattern:
    """One rule: a name, a pattern, `table.column` of these, or a regular expression in slashes."""

    def __init__(self, text: str) -> None:
        self._text = _folded(text)
        self._expression: re.Pattern[str] | None = None
        if len(text.strip()) > 1 and text.strip()[0] == text.strip()[-1] == "/":
            self._expression = re.compile(text.strip()[1:-1], re.IGNORECASE)
        self._name = re.compile(translate(self._text))
        parts = self._text.split(".")  # at each dot, as either side may hold dots of its own
        self._qualified = [
            [re.compile(translate(".".join(some))) for some in (parts[:at], parts[at:])]
            for at in range(1, len(parts))
        ]

    def matches(self, name: str, tables: Sequence[str] = ()) -> bool:
        """Tell whether a column is meant, by its folded name and what its table may be called."""
        if self._expression is not None:
            return self._expression.search(name) is not None
        if name == self._text or self._name.match(name) is not None:
            return True
        return any(
            column.match(name) is not None and any(map(table.match, tables))
            for table, column in self._qualified
        )


def _folded(name: str) -> str:
    """Return a name as rules compare it: capitals, widths and blanks around it do not matter."""
    return unicodedata.normalize("NFKC", name).casefold().strip()


def _names_of_table(parts: Sequence[str]) -> list[str]:
    """Return what a table may be called: its name, and the places around it before that."""
    names = [_folded(part) for part in parts[-_LONGEST_ID:]]
    return [".".join(names[at:]) for at in range(len(names))]


def _names_of_column(name: str, kind: str, others: frozenset[str]) -> list[str]:
    """Return what a column may be called: its name, and those of the fields inside it.

    A second column of one name is read as `name_1`, and is meant by what means the first: `others`
    are the folded names of all columns of its table. `kind` is its type where it has fields.
    """
    own = _folded(name)
    numbered = _NUMBERED.fullmatch(own)
    names = [own, *([numbered[1]] if numbered and numbered[1] in others else [])]
    if kind:
        fields = [_folded(next(filter(None, found), "")) for found in _WORD.findall(kind)]
        names += fields
        names += [f"{own}.{field}" for field in fields]
        names += [f"{outer}.{inner}" for outer, inner in pairwise(fields)]
    return names
