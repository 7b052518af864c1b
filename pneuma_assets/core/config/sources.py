"""What every kind of source says of itself in a deployment file.

Nothing else in the project tells one kind from another. The kinds that are built in lie in
`core/sources/kinds`; `source_kinds` finds them and others.
"""

import re
from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.config.values import Owner, Reader, SourceName

if TYPE_CHECKING:
    from pneuma_assets.core.sources.base import Source
    from pneuma_assets.core.sources.files.s3_events import SqsMailbox


_URI = re.compile(r"[a-z][a-z0-9+.-]*://\S+")


@dataclass(frozen=True, slots=True)
class TableAddress:
    """How a table is known outside this project, so that others recognise it as theirs.

    Attributes:
        name: As its own engine spells it in full (database.schema.table), or a file's path.
        uri: An address of this table alone, not of a database with others; None without one.
        kinds: What keeps it and how it is written (s3, parquet), as a user interface shows it.
    """

    name: str
    uri: str | None
    kinds: tuple[str, ...] = ()


class SourceConfig(Section):
    """One entry of `sources`; each kind is a subclass whose `type` is a literal with a default.

    It stands at the top of a module that other processes can import, also only to search: what
    reads (duckdb, boto3) is imported by `open`.
    """

    lists_without_reading: ClassVar[bool] = False
    """Whether a listing opens nothing that others wrote, and so needs no process of its own."""

    technologies: ClassVar[frozenset[str]] = frozenset()
    """What its tables are read with, for a user interface that shows it."""

    type: str
    name: SourceName
    owners: tuple[Owner, ...] = Field((), description="Of its tables, beside those of all assets.")
    visible: bool = Field(True, description="Whether its tables have pages in Dagster.")
    readers: tuple[Reader, ...] | None = Field(
        None, description="Who may find its tables that have no grants of their own."
    )
    privacy: PrivacyConfig = Field(
        PrivacyConfig(), description="What of it is never kept, beside what holds for all sources."
    )

    @property
    def dependency_dialect(self) -> str | None:
        """What sqlglot calls the engine that has a view of dependencies; None: there is none."""
        return None

    @property
    def statement_dialect(self) -> str | None:
        """What sqlglot calls the SQL that it runs itself (`RunsStatements`); None: it runs none."""
        return None

    @property
    def sql_dialect(self) -> str | None:
        """What sqlglot calls the SQL by which people read its tables; '': plain SQL; None: none."""
        return None

    @property
    def spells_types(self) -> str | None:
        """What SQLAlchemy calls the engine of its columns' types, where cells come as text."""
        return None

    @property
    def caveat(self) -> str | None:
        """What a person should know before relying on it, for `status`; None: nothing."""
        return None

    @property
    @abstractmethod
    def location(self) -> str:
        """Where the tables are, as people write it."""

    @property
    def folder(self) -> Path | None:
        """The folder of this machine whose tables these are; None if they are kept elsewhere."""
        return None

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return which variables the process that reads it may see, secrets among them."""
        named, starts = self.variables
        seen = (one for one in environ if one in named or one.upper().startswith(starts))
        return {name: environ[name] for name in seen}

    @property
    def variables(self) -> tuple[Collection[str | None], tuple[str, ...]]:
        """The names of these variables, and how others begin, in capitals; none by default."""
        return (), ()

    def address_of(self, table_id: str, location: str, format: str) -> TableAddress:  # noqa: A002
        """Return how one of its tables is known to others, by what its reference says.

        By default the parts of its id, a dot between them, and its location if that is a URI.
        """
        uri = location if _URI.fullmatch(location) else None
        return TableAddress(table_id.replace("/", "."), uri, (self.type, format))

    def holds(self, address: str) -> bool:  # noqa: ARG002
        """Tell whether a table by this name, path or URI, not listed yet, would be one of these.

        Somebody says that it has changed, and the source is listed then. By default none would be.
        """
        return False

    def mailbox(self, environ: Mapping[str, str]) -> "SqsMailbox | None":  # noqa: ARG002
        """Return where messages tell of its changes, if anywhere; raises `ConfigError`."""
        return None

    @abstractmethod
    def open(self, environ: Mapping[str, str]) -> "Source":
        """Return the source, its paths resolved; reaches nothing before its first call.

        Raises `ConfigError` where a secret is missing in `environ`.
        """
