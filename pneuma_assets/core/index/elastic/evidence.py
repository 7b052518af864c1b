"""A table's evidence as documents of the index, and back.

One document holds a table's names and what its rows say, each field's terms and, unsearched, the
evidence itself; each row is a document of its own, so that a table's best row can be told.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pneuma_assets.core.errors import EvidenceRefusedError, IndexDamagedError
from pneuma_assets.core.index.elastic.counted import counted_fields
from pneuma_assets.core.index.elastic.text import escape, token, unescape
from pneuma_assets.core.index.identity import REBUILD
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import PRESENCE, Field, field_entries
from pneuma_assets.core.text.analysis import Analyzer

EVIDENCE, ROW = "evidence", "row"
NO_ROW = -1
EVIDENCE_FIELDS = ("table_id", "evidence")

MAX_EVIDENCE = 8 * 1024 * 1024
"""Most characters of one table's evidence; with its terms it fits a request, 100 MB."""

_PARTS = ("names", "columns", "spelled_names", "spelled_columns", "rows", "cells")
"""As they are stored, in this order; a change of it is a change of `mapping.FORMAT`."""

Source = dict[str, Any]
"""The fields of one document."""


def joined(terms: Sequence[str]) -> str:
    """Return terms as the server splits them again; of a long one, its hash stands for it."""
    return " ".join(map(token, terms))


def evidence_text(evidence: TableTerms) -> str:
    """Return evidence as the one text that is stored; equal evidence has equal texts."""
    parts = [getattr(evidence, name) for name in _PARTS]
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def checked_text(table_id: str, evidence: TableTerms) -> str | None:
    """Return what is stored of a table's evidence; None where it has none.

    Raises:
        EvidenceRefusedError: It is too large.
    """
    if evidence == TableTerms():
        return None
    text = evidence_text(evidence)
    if len(text) > MAX_EVIDENCE:
        raise EvidenceRefusedError(
            table_id,
            f"The evidence of table {table_id!r} has {len(text):,} characters; Elasticsearch takes "
            f"{MAX_EVIDENCE:,} at most: keep fewer rows or cells.",
        )
    return text


def sources_of(evidence: TableTerms, text: str, analyzer: Analyzer) -> Iterator[tuple[str, Source]]:
    """Yield the name and the fields of each document; rows without a word have none.

    The names of columns without a row are searched as a row would be, under `NO_ROW`.
    """
    fields: Source = {}
    row = 0 if evidence.rows else NO_ROW
    for entry in field_entries(evidence, analyzer):
        if entry.field is not Field.ROWS:
            fields[entry.field.value] = joined(entry.terms)
            if entry.field not in PRESENCE:
                fields |= counted_fields(entry.field.value, entry.terms)
            continue
        if entry.terms:
            yield f"{ROW}{row}", {"doc": ROW, "row": row, Field.ROWS.value: joined(entry.terms)}
        row += 1
    yield EVIDENCE, {"doc": EVIDENCE, "evidence": escape(text), **fields}


def evidence_from(hit: Mapping[str, Any]) -> tuple[str, TableTerms]:
    """Return the table and the evidence of a hit.

    Raises:
        IndexDamagedError: The document is none of ours.
    """
    try:
        table_id, text = (unescape(hit["_source"][name]) for name in EVIDENCE_FIELDS)
        names, columns, spelled_names, spelled_columns, rows, cells = json.loads(text)
        found = TableTerms(
            _texts(names),
            _texts(columns),
            _text(spelled_names),
            _text(spelled_columns),
            tuple(map(_row, _list(rows))),
            _texts(cells),
        )
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise IndexDamagedError(
            f"The document {hit.get('_id')!r} of the index {hit.get('_index')!r} is not as this "
            f"program writes them ({type(error).__name__}: {error}); {REBUILD}."
        ) from error
    return table_id, found


def _row(value: object) -> tuple[str | None, ...]:
    return tuple(None if cell is None else _text(cell) for cell in _list(value))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, _list(value)))


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"{type(value).__name__} where a list is kept")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} where text is kept")
    return value
