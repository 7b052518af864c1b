"""Which columns of a table a deployment's rules hide."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote

from pneuma_assets.core.config.privacy import PrivacyConfig
from pneuma_assets.core.sources.private.patterns import (
    NamePattern,
    folded,
    is_cut,
    names_of_column,
    names_of_table,
    tags_in,
)
from pneuma_assets.core.tables import Column, content_hash


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


def tags_of(column: Column) -> Iterator[str]:
    """Yield the tags that a column bears, folded: those in its comment.

    Where a source brings tags in another way, this is the one place to read them.
    """
    yield from tags_in(column.comment)
