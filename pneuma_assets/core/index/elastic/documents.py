"""Tables as documents of the index, and back.

A table has a document for each block, one for its evidence (its names and what its rows say, each
field's terms and, unsearched, the evidence itself), one for each row, so that its best row can be
told, a record that counts all these, and one of its facts, which change without the others.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from pneuma_assets.core.errors import EvidenceRefusedError, IndexDamagedError
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.elastic.mapping import TERMS, escape, token, unescape
from pneuma_assets.core.index.identity import REBUILD, facts_from, facts_text
from pneuma_assets.core.index.validation import check_evidence
from pneuma_assets.core.tables import (
    Block,
    DocumentKind,
    EmbeddedBlock,
    TableFacts,
    TableTerms,
    Vector,
    content_hash,
    source_of,
)
from pneuma_assets.core.terms.fields import TERM_RULES, Field, field_entries
from pneuma_assets.core.text.analysis import Analyzer

BLOCK, EVIDENCE, ROW, TABLE, FACTS, STATE = "block", "evidence", "row", "table", "facts", "state"
"""The kinds of documents."""

BLOCK_FIELDS = ("table_id", "kind", "text")
EVIDENCE_FIELDS = ("table_id", "evidence")
TABLE_FIELDS = ("table_id", "generation", "blocks", "documents", "digest")
FACTS_FIELDS = ("table_id", "generation", "facts")

NO_ROW = -1
"""The number under which the columns' names are searched of a table without a row."""

MAX_EVIDENCE = 8 * 1024 * 1024
"""Most characters of one table's evidence; with its terms it fits a request, 100 MB."""

_PARTS = ("names", "columns", "spelled_names", "spelled_columns", "rows", "cells", "described")
"""Of evidence, as stored, in this order; a change of it is a change of `mapping.FORMAT`."""

Source = dict[str, Any]
"""The fields of one document."""
Action = dict[str, Any]
"""One operation for the client's bulk helpers."""

_WRITTEN = {"version": 1, "version_type": "external_gte"}
_REMOVED = {"version": 2, "version_type": "external_gte"}
"""A request that was given up, sent again, and is carried out late finds a higher version: it does
not bring back what was removed since. Remembered as long as `mapping.settings_of` says."""

_UNIT = 1e-6  # float32's own rounding of a normalised vector


@dataclass(frozen=True)
class Prepared:
    """One table's checked contents, and what is stored of its evidence; None where it has none."""

    contents: TableContents
    text: str | None

    @cached_property
    def digest(self) -> str:
        """Name the texts, vectors and evidence, and how they are searched, in 32 hex digits.

        Facts are no part of it, since they change without the texts.
        """
        vectors = {
            item.block.block_id: item.vector.tobytes().hex() for item in self.contents.blocks
        }
        evidence = () if self.text is None else (self.text, str(TERM_RULES))
        return content_hash(*chain.from_iterable(sorted(vectors.items())), *evidence)


def prepared(table_id: str, contents: TableContents) -> Prepared:
    """Return checked contents as they are written.

    Raises:
        EvidenceRefusedError: The evidence is too large.
    """
    if contents.evidence == TableTerms():
        return Prepared(contents, None)
    text = evidence_text(contents.evidence)
    if len(text) > MAX_EVIDENCE:
        raise EvidenceRefusedError(
            table_id,
            f"The evidence of table {table_id!r} has {len(text):,} characters; Elasticsearch takes "
            f"{MAX_EVIDENCE:,} at most: keep fewer rows or cells.",
        )
    return Prepared(contents, text)


def evidence_text(evidence: TableTerms) -> str:
    """Return evidence as the one text that is stored; equal evidence has equal texts."""
    parts = [getattr(evidence, name) for name in _PARTS]
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def joined(terms: Sequence[str]) -> str:
    """Return terms as the server splits them again; of a long one, its hash stands for it."""
    return " ".join(map(token, terms))


def unit(vector: Vector) -> Vector:
    """Return a vector of exactly unit length, which a dot product asks for; a good one as it is.

    Encoders in half precision are a little off; what is stored is what is compared.
    """
    length = np.linalg.norm(vector.astype(np.float64))
    return vector if abs(length - 1.0) < _UNIT else (vector / length).astype(np.float32)


def actions_of(
    table_id: str, table: Prepared, generation: int, analyzer: Analyzer
) -> Iterator[Action]:
    """Yield what writes one table: its blocks, its evidence, and a record that counts them."""
    for item in table.contents.blocks:
        block_id = item.block.block_id
        source = {
            "doc": BLOCK,
            "block_id": block_id,
            "kind": item.block.kind,
            "text": escape(item.block.text),
            TERMS: " ".join(analyzer.terms(item.block.text)),
            "vector": unit(item.vector),
        }
        yield _action(block_id, table_id, generation, source)
    documents = 0
    if table.text is not None:
        for name, source in sources_of(table.contents.evidence, table.text, analyzer):
            yield _action(name, table_id, generation, source)
            documents += 1
    counts = {"blocks": len(table.contents.blocks), "documents": documents}
    yield _action(TABLE, table_id, generation, {"doc": TABLE, **counts, "digest": table.digest})


def sources_of(evidence: TableTerms, text: str, analyzer: Analyzer) -> Iterator[tuple[str, Source]]:
    """Yield the name and the fields of each document of evidence; rows without a word have none."""
    fields: Source = {}
    row = 0 if evidence.rows else NO_ROW
    for entry in field_entries(evidence, analyzer):
        if entry.field is not Field.ROWS:
            fields[entry.field.value] = joined(entry.terms)
            continue
        if entry.terms:
            yield f"{ROW}{row}", {"doc": ROW, "row": row, Field.ROWS.value: joined(entry.terms)}
        row += 1
    yield EVIDENCE, {"doc": EVIDENCE, "evidence": escape(text), **fields}


def facts_action(table_id: str, facts: TableFacts, generation: int) -> Action:
    """Return what writes the facts of one table; a generation of their own lets them change."""
    return _action(FACTS, table_id, generation, {"doc": FACTS, "facts": escape(facts_text(facts))})


def removal_of(hit: Mapping[str, Any]) -> Action:
    """Return what deletes the document of a hit."""
    return {"_op_type": "delete", "_id": hit["_id"], **_REMOVED}


def _action(name: str, table_id: str, generation: int, source: Source) -> Action:
    common = {
        "generation": generation,
        "table_id": escape(table_id),
        "source": escape(source_of(table_id)),
    }
    return {
        "_op_type": "index",
        "_id": f"{name}-{generation}",
        **_WRITTEN,
        "_source": {**source, **common},
    }


def block_id_of(hit: Mapping[str, Any]) -> str:
    """Return the block id of a hit whose fields were not asked for."""
    return str(hit["_id"]).partition("-")[0]


@contextmanager
def reading(hit: Mapping[str, Any]) -> Iterator[None]:
    """Raise `IndexDamagedError` where a hit is not as this program writes its documents."""
    try:
        yield
    except (KeyError, TypeError, ValueError, RecursionError, EvidenceRefusedError) as error:
        raise IndexDamagedError(
            f"The document {hit.get('_id')!r} of the index {hit.get('_index')!r} is not as this "
            f"program writes them ({type(error).__name__}: {error}); {REBUILD}."
        ) from error


def block_from(hit: Mapping[str, Any]) -> Block:
    """Return the block of a hit, or raise `IndexDamagedError`."""
    with reading(hit):
        table_id, kind, text = (hit["_source"][name] for name in BLOCK_FIELDS)
        return Block(unescape(table_id), DocumentKind(kind), unescape(text))


def embedded_from(hit: Mapping[str, Any]) -> EmbeddedBlock:
    """Return the block of a hit with its vector, or raise `IndexDamagedError`."""
    block = block_from(hit)
    with reading(hit):
        return EmbeddedBlock(block, np.asarray(hit["fields"]["vector"], np.float32))


def facts_of(hit: Mapping[str, Any]) -> TableFacts:
    """Return the facts of a hit, or raise `IndexDamagedError`."""
    with reading(hit):
        return facts_from(unescape(hit["_source"]["facts"]))


def evidence_from(hit: Mapping[str, Any]) -> tuple[str, TableTerms]:
    """Return the table and the evidence of a hit, or raise `IndexDamagedError`."""
    with reading(hit):
        table_id, text = (unescape(hit["_source"][name]) for name in EVIDENCE_FIELDS)
        evidence = TableTerms(**dict(zip(_PARTS, _frozen(json.loads(text)), strict=True)))
        check_evidence(table_id, evidence)
        return table_id, evidence


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
