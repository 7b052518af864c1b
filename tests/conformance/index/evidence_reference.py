"""What the contract says of evidence, computed entry by entry: the scores that are expected."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pneuma_assets.core.index.base import K1
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import PRESENCE, Field, field_entries, query_terms, spaced
from pneuma_assets.core.text.analysis import ENGLISH
from tests.support.lucene_bm25 import lucene_bm25


@dataclass(slots=True)
class Expected:
    """One table's best score in each field, the score of every row, and what its names say."""

    fields: dict[Field, float] = field(default_factory=dict)
    rows: list[float] = field(default_factory=list)
    headers: dict[str, float] = field(default_factory=dict)
    columns: int = 0


def expected_scores(tables: Mapping[str, TableTerms], question: str) -> dict[str, Expected]:
    """Return what is expected of each table for a question."""
    expected = {
        t: Expected(headers=_headers(one, question), columns=2 ** len(one.columns).bit_length())
        for t, one in tables.items()
    }
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


def _headers(evidence: TableTerms, question: str) -> dict[str, float]:
    """Return the largest share that each word of a question has of a name or a description."""
    names = [{*ENGLISH.terms(spaced(name))} for name in (*evidence.names[-1:], *evidence.columns)]
    spelled = ENGLISH.terms(f"{evidence.spelled_names} {evidence.spelled_columns}")
    pairs = [(word, max(0.5, len(name) ** -0.5)) for name in names for word in name]
    pairs += [(word, 0.5**0.5) for word in spelled]
    texts = [{*ENGLISH.terms(text)} for text in evidence.described]
    pairs += [(word, max(2, len(text)) ** -0.5) for text in texts for word in text]
    asked = ENGLISH.question_terms(question)
    return {
        word: max(share for one, share in pairs if one == word)
        for word, _ in pairs
        if word in asked
    }
