"""What the contract says of evidence, computed entry by entry: the scores that are expected."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pneuma_assets.core.index.base import K1
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import PRESENCE, Field, field_entries, query_terms
from pneuma_assets.core.text.analysis import ENGLISH
from tests.support.lucene_bm25 import lucene_bm25


@dataclass(slots=True)
class Expected:
    """One table's best score in each field in which it has any, and the score of every row."""

    fields: dict[Field, float] = field(default_factory=dict)
    rows: list[float] = field(default_factory=list)


def expected_scores(tables: Mapping[str, TableTerms], question: str) -> dict[str, Expected]:
    """Return what is expected of each table for a question."""
    expected = {table_id: Expected() for table_id in tables}
    entries = [
        (expected[table_id], entry)
        for table_id, evidence in tables.items()
        for entry in field_entries(evidence, ENGLISH)
    ]
    for name, terms in query_terms(question, ENGLISH).items():
        own = [(table, entry.terms) for table, entry in entries if entry.field is name]
        scores = lucene_bm25([t for _, t in own], terms, 0.0 if name in PRESENCE else K1)
        for (table, _), score in zip(own, scores, strict=True):
            if name is Field.ROWS:
                table.rows.append(score)
            if score > 0:
                table.fields[name] = max(score, table.fields.get(name, 0.0))
    return expected
