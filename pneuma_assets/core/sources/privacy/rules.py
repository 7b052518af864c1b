"""Which columns of a table the rules of a deployment hide.

Wherever a rule can be understood in two ways, both match: to hide too much can be seen and mended.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cached_property
from itertools import pairwise
from urllib.parse import unquote

from pneuma_assets.core.config.privacy import PrivacyConfig
from pneuma_assets.core.tables import Column, content_hash

_NESTED = re.compile(r"<|\b(struct|row|record|union|map|object|tuple|nested)\b", re.IGNORECASE)
_WORD = re.compile(r'"((?:[^"]|"")*)"|`([^`]*)`|(\w+)')
_CUT = "…"
_NUMBERED = re.compile(r"(.+?)(?:_\d+)+", re.DOTALL)
_LONGEST_ID = 20
"""Parts of a table's id that a pattern may name."""


def folded(name: str) -> str:
    """Return a name as rules compare it: capitals, widths and blanks around it do not matter."""
    return unicodedata.normalize("NFKC", name).casefold().strip()


@dataclass(frozen=True)  # no slots: it caches
class NamePattern:
    """One rule: a name, a pattern, `table.column` of these, or a regular expression in slashes."""

    text: str

    def matches(self, name: str, tables: Sequence[str] = ()) -> bool:
        """Tell whether a column of a table is meant.

        Args:
            name: The column's, folded.
            tables: What its table may be called, folded.
        """
        if self._expression is not None:
            return self._expression.search(name) is not None
        if name == folded(self.text) or self._glob.match(name) is not None:
            return True
        return any(
            column.match(name) is not None and any(map(table.match, tables))
            for table, column in self._splits
        )

    @cached_property
    def _expression(self) -> re.Pattern[str] | None:
        text = self.text.strip()
        if len(text) < 2 or not (text.startswith("/") and text.endswith("/")):
            return None
        return re.compile(text[1:-1], re.IGNORECASE)

    @cached_property
    def _glob(self) -> re.Pattern[str]:
        return re.compile(translate(folded(self.text)))

    @cached_property
    def _splits(self) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
        """The pattern taken apart at each of its dots, as either side may hold dots of its own."""
        parts = folded(self.text).split(".")
        splits = ((parts[:at], parts[at:]) for at in range(1, len(parts)))
        return [
            (re.compile(translate(".".join(table))), re.compile(translate(".".join(column))))
            for table, column in splits
        ]


def names_of_table(parts: Sequence[str]) -> list[str]:
    """Return what a table may be called: its name, and the places around it before that."""
    names = [folded(part) for part in parts[-_LONGEST_ID:]]
    return [".".join(names[at:]) for at in range(len(names))]


def names_of_column(name: str, kind: str, others: frozenset[str]) -> list[str]:
    """Return what a column may be called: its name, and those of the fields inside it.

    A second column of one name is read as `name_1`, and is meant by what means the first.

    Args:
        name: Its name.
        kind: Its type.
        others: The names of all columns of its table, folded.
    """
    own = folded(name)
    numbered = _NUMBERED.fullmatch(own)
    names = [own, *([numbered[1]] if numbered and numbered[1] in others else [])]
    if _NESTED.search(kind):
        fields = [folded(next(filter(None, found), "")) for found in _WORD.findall(kind)]
        names += fields
        names += [f"{own}.{field}" for field in fields]
        names += [f"{outer}.{inner}" for outer, inner in pairwise(fields)]
    return names


def is_cut(kind: str) -> bool:
    """Tell whether fields inside a column are not known, because its type is too long."""
    return kind.endswith(_CUT) and _NESTED.search(kind) is not None


_TAG = re.compile(r"(?<![\w.@])@([\w.:-]*\w)|\[([\w.: -]+)\]")


def tags_of(column: Column) -> Iterator[str]:
    """Yield the tags that the comment on a column bears: `@pii`, `[pii]`; folded."""
    for at, bracketed in _TAG.findall(column.comment):
        yield folded(at or bracketed)


@dataclass(frozen=True)  # no slots: it caches
class Rules:
    """The rules of one source, those of all sources among them."""

    config: PrivacyConfig = field(default_factory=PrivacyConfig)

    @property
    def hide_anything(self) -> bool:
        """Whether any column may be hidden."""
        said = self.config
        return bool(said.schema_only or said.hidden_columns or said.hidden_tags)

    @property
    def digest(self) -> str:
        """Names the rules; that of none is empty."""
        return content_hash(self.config.model_dump_json()) if self.hide_anything else ""

    def hidden(self, table_id: str, columns: Sequence[Column]) -> frozenset[int]:
        """Return the positions of the columns whose values are never kept."""
        if self.config.schema_only:
            return frozenset(range(len(columns)))
        tables = names_of_table([unquote(part, errors="replace") for part in table_id.split("/")])
        others = frozenset(folded(column.name) for column in columns)
        return frozenset(
            position
            for position, column in enumerate(columns)
            if self._hides(column, tables, others)
        )

    def names(self, name: str, table: Sequence[str]) -> bool:
        """Tell whether a column is meant of which nothing but its name is known."""
        tables = names_of_table(table)
        return any(pattern.matches(folded(name), tables) for pattern in self._columns)

    def _hides(self, column: Column, tables: Sequence[str], others: frozenset[str]) -> bool:
        if self._columns and is_cut(column.type):
            return True
        names = names_of_column(column.name, column.type, others)
        if any(pattern.matches(name, tables) for pattern in self._columns for name in names):
            return True
        tags = list(tags_of(column)) if self._tags else []
        return any(pattern.matches(tag) for pattern in self._tags for tag in tags)

    @cached_property
    def _columns(self) -> list[NamePattern]:
        return [NamePattern(text) for text in self.config.hidden_columns]

    @cached_property
    def _tags(self) -> list[NamePattern]:
        return [NamePattern(text) for text in self.config.hidden_tags]
