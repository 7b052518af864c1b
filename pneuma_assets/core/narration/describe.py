"""Which description of a column is shown and indexed: people's own words, or the next best."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pneuma_assets.core.dictionaries.html import lists_in_markdown
from pneuma_assets.core.dictionaries.lines import Glossary
from pneuma_assets.core.narration.facts import fact_descriptions
from pneuma_assets.core.narration.written import comments_of, written_descriptions
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.tables import Description, Provenance, Table

Known = Mapping[int, Mapping[Provenance, Description]]
"""The descriptions of columns, by position and provenance."""

WRITTEN = (Provenance.CORRECTION, Provenance.PERSON, Provenance.DOCUMENT)
"""What people wrote; where there is any, nothing else is shown and no model is asked."""

DESCRIBING_VERSION = "2"
"""Raised when the same table is described otherwise, so that all tables are made anew."""


def read_descriptions(
    table: Table, glossaries: Sequence[Glossary], rows: Sequence[Row] = ()
) -> list[tuple[int, Description]]:
    """Return all that a table and the documents beside it say of its columns, without a model.

    Args:
        table: Its profile.
        glossaries: The lists in its documents.
        rows: Those gathered of it (`evidence.gather`), all if it has few; none where only its
            names are known yet.
    """
    all_rows = len(rows) >= table.row_count
    found = (
        comments_of(table),
        written_descriptions(table, glossaries),
        fact_descriptions(table, rows, all_rows=all_rows),
    )
    return [one for described in found for one in described.items()]


def added_descriptions(table: Table, contexts: Iterable[tuple[str, str]]) -> dict[int, Description]:
    """Return what lists in contexts that people added, each a name and a text, say of columns."""
    glossaries: list[Glossary] = []
    for name, text in contexts:
        try:
            lists = [one for one in lists_in_markdown(text) if one.rows]
            glossaries += [replace(one, document=name) for one in lists]
        except (ValueError, RecursionError):
            continue  # it is searched as text all the same
    return written_descriptions(table, glossaries, Provenance.PERSON)


def best_descriptions(
    known: Known, models: Mapping[int, Description], *, facts: bool = True
) -> dict[int, Description]:
    """Return the description to show of each column: people's, else the model's, else facts.

    A correction without a text rejects what documents, models and facts say: only what people wrote
    in the table itself, or added to it, is shown then.

    Args:
        known: What was read, by position.
        models: What a model said, as far as it is fit to be shown.
        facts: Whether names and values may describe a column.
    """
    orders = (*WRITTEN, Provenance.MODEL, *([Provenance.PROFILE] if facts else []))
    best: dict[int, Description] = {}
    for position in sorted({*known, *models}):
        said = dict(known.get(position, {}))
        if position in models:
            said[Provenance.MODEL] = models[position]
        rejected = Provenance.CORRECTION in said and not said[Provenance.CORRECTION].text
        allowed = (Provenance.PERSON,) if rejected else orders
        one = next((said[order] for order in allowed if order in said), None)
        if one is not None:
            best[position] = one
    return best


def is_written(known: Known, position: int) -> bool:
    """Tell whether people described a column, or want nobody else to."""
    return any(order in known.get(position, {}) for order in WRITTEN)
