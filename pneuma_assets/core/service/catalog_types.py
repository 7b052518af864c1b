"""What a catalogue of tables shows: cards, facets, suggestions, pages of tables, found tables.

Every number and name in them is for one asker: of a table that they may not see, nothing is here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pneuma_assets.core.missing_parts import MissingPart
from pneuma_assets.core.relations.families import Family
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.service.describe import ColumnDescription
from pneuma_assets.core.service.joins import KnownJoin
from pneuma_assets.core.service.lineage import LinkedTable
from pneuma_assets.core.service.usage import ConfirmedAnswer
from pneuma_assets.core.tables import ColumnProfile

FACETS = ("source", "schema", "format", "freshness", "owner")
"""By what tables can be told apart."""

FRESHNESS_DAYS = (1, 7, 30, 365)
"""The ages by which `freshness` counts tables; beyond are `older` and `unknown`."""


@dataclass(frozen=True, slots=True)
class TableCard:
    """What is shown of a table in a list.

    Attributes:
        table_id: The table.
        source: Its source.
        schema: Its schema, or its folders joined by '/'; empty where it lies in none.
        name: Its own name.
        format: Such as `csv`, `view`.
        comment: One line of what is said of it; empty where nothing is.
        rows: How many it has; None where it was not read yet.
        columns: How many it has, likewise.
        updated_at: When its data was written last, or seen to have changed, as ISO 8601 in UTC;
            None where that is not known.
        owners: People or teams.
        documented: Which share of its columns people described, from 0 to 1.
        feeds: How many known tables are built from it.
        state: `indexed`, `pending` or `failed`.
        copy_of: The table that it is a copy of, where who asks may see that one.
        family: What its family is called, a star for what tells the members apart; None: it is in
            none.
    """

    table_id: str
    source: str
    schema: str
    name: str
    format: str = ""
    comment: str = ""
    rows: int | None = None
    columns: int | None = None
    updated_at: str | None = None
    owners: tuple[str, ...] = ()
    documented: float = 0.0
    feeds: int = 0
    state: str = "indexed"
    copy_of: str | None = None
    family: str | None = None


@dataclass(frozen=True, slots=True)
class Facets:
    """Which tables are wanted; an empty tuple does not restrict. Parts are joined by AND.

    Attributes:
        sources: One of these sources.
        schemas: One of these schemas or folders, as cards have them.
        formats: One of these formats.
        owners: At least one of these owners.
        updated_within_days: Written within so many days; None does not restrict.
    """

    sources: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    updated_within_days: int | None = None


@dataclass(frozen=True, slots=True)
class FacetCount:
    """How many tables have one value of a facet, the other facets' filters applied."""

    value: str
    tables: int


FacetCounts = Mapping[str, tuple[FacetCount, ...]]
"""The counts of each facet (`FACETS`), the most frequent value first; of `freshness`, by age."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A part of a list of tables.

    Attributes:
        total: How many tables the whole list has.
        offset: How many of them come before this part.
        limit: How many were asked for.
        tables: This part.
        facets: Of the whole list.
    """

    total: int
    offset: int
    limit: int
    tables: tuple[TableCard, ...]
    facets: FacetCounts


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What somebody who types may mean.

    Attributes:
        text: The name, or the question.
        kind: `table`, `column` or `question`.
        table_id: The table; of a column, one that has it; None for a question.
    """

    text: str
    kind: str
    table_id: str | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    """A text, and the words of it that a question has, as half-open ranges of characters."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ColumnHit:
    """A column that a question names, or of which what is said has words of it.

    Attributes:
        table_id: Its table.
        column: Its name.
        type: Its type.
        text: What is said of it, and frequent values that the question has.
        score: How well it matches, 0 to 1; below a half where it is not named.
        marks: Ranges of `column` that match the question.
        text_marks: Likewise of `text`.
    """

    table_id: str
    column: str
    type: str
    text: str
    score: float
    marks: tuple[tuple[int, int], ...] = ()
    text_marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A table that was found, and why.

    Attributes:
        result: As `Workspace.ask` returns it.
        card: The table.
        passage: `result.text`, with the question's words marked.
        columns: Those that the question names.
        signals: The share that each signal has of the score; they add up to 1.
    """

    result: TableResult
    card: TableCard
    passage: Marked
    columns: tuple[str, ...]
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The tables that may answer a question, and what else a page shows with them.

    Attributes:
        question: As it was asked.
        limit: Most tables that were asked for.
        total: How many tables were searched: those that the asker may see and the filters leave.
        hits: The tables, best first.
        columns: Columns that the question names, of these tables, best first.
        facets: Counts of the tables that were searched.
        confidence: The probability that any table of the answer is right; None: not known.
        unlikely: Whether no table is likely to answer.
        missing: What the answer had to do without.
        confirmed: Answers that people confirmed to questions that ask the same.
        seconds: How long it took.
    """

    question: str
    limit: int
    total: int
    hits: tuple[SearchHit, ...]
    columns: tuple[ColumnHit, ...]
    facets: FacetCounts
    confidence: float | None
    unlikely: bool
    missing: tuple[MissingPart, ...] = ()
    confirmed: tuple[ConfirmedAnswer, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ColumnPage:
    """A column on the page of its table.

    Attributes:
        name: As who may see the table sees it.
        type: Its type.
        description: What is said of it, and by whom.
        hidden: Whether rules of privacy hide its values.
        profile: What all rows say of it; None where they were not read, or are hidden.
    """

    name: str
    type: str
    description: ColumnDescription
    hidden: bool
    profile: ColumnProfile | None = None


@dataclass(frozen=True, slots=True)
class TableDocument:
    """A text about a table.

    Attributes:
        name: Its label; of one that was added, that by which it is removed.
        kind: `context` lies beside the table, `added` was added by somebody, `told` comes from dbt,
            other assets and the like, `lineage` was made from what is known of its lineage.
        text: The text.
        author: Who wrote it, where that is known.
        said_at: When, as ISO 8601 in UTC, likewise.
    """

    name: str
    kind: str
    text: str
    author: str | None = None
    said_at: str | None = None


@dataclass(frozen=True, slots=True)
class TablePage:
    """All that is shown of one table.

    Attributes:
        card: As in a list.
        description: Of the table.
        columns: Its columns in order; none where it was not read yet.
        row_counts: Times (ISO 8601 in UTC) with the number of rows then, the oldest first.
        joins: By which columns it can be joined with others, the surest first.
        lineage: What it is built from, and what is built from it, the nearest first.
        documents: What is written about it.
        questions: Those to which people confirmed that it answers, the newest first.
        copies: Tables that hold the same.
        family: The tables of other years, days, regions or numbers, if any.
        notes: What to know of it, a sentence each.
        problem: Why it cannot be indexed; None if it can.
        asset_key: Its key in Dagster, parts joined by '/'; None where it has no page there.
        snippets: Code that reads it, by kind: `sql`, `pandas`, `dagster`.
        location: Where it lies; empty where that is not told.
        definition: The query of a view; None for others, or where that is not told.
    """

    card: TableCard
    description: ColumnDescription
    columns: tuple[ColumnPage, ...] = ()
    row_counts: tuple[tuple[str, int], ...] = ()
    joins: tuple[KnownJoin, ...] = ()
    lineage: tuple[LinkedTable, ...] = ()
    documents: tuple[TableDocument, ...] = ()
    questions: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    family: Family | None = None
    notes: tuple[str, ...] = ()
    problem: str | None = None
    asset_key: str | None = None
    snippets: Mapping[str, str] = field(default_factory=dict)
    location: str = ""
    definition: str | None = None


@dataclass(frozen=True, slots=True)
class SampleRows:
    """Some rows of a table, hidden columns left out.

    Attributes:
        columns: Their names.
        rows: Cells as text in the order of the columns; None where there is no value.
        total: How many rows the table has; None where that is not known.
        whole: Whether these are all of them.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    total: int | None
    whole: bool
