"""What the embedded index's file holds of each table: packed, written, read and checked."""

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import TableContents, is_seen
from pneuma_assets.core.index.embedded.bm25 import count_terms
from pneuma_assets.core.index.embedded.file import (
    Meta,
    checksum,
    damaged,
    reading_rows,
)
from pneuma_assets.core.index.embedded.term_index import PackedTerms, pack_terms
from pneuma_assets.core.index.identity import REBUILD, facts_from, facts_text
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableFacts, TableTerms
from pneuma_assets.core.terms.fields import TERM_RULES, field_entries
from pneuma_assets.core.text.analysis import Analyzer

_TABLE = "seq, key, table_id, blocks, checksum"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A table as it is listed; `key` names it, `seq` this state of it."""

    seq: int
    key: int
    table_id: str
    blocks: int
    checksum: int


class Packed(NamedTuple):
    """All that is kept of one table but its facts, as stored; blocks are one after the other.

    Attributes:
        texts: Of the blocks.
        evidence: JSON, compressed.
        rows: How many rows the evidence has.
        block_ids: 32 bytes a block.
        kinds: Of the blocks, a line each.
        sizes: uint32, the bytes of each text.
        vectors: float32[dimension] a block.
        different: uint32, the number of different terms of each block.
        terms: uint64, the keys of these terms.
        counts: uint16, how often each occurs.
        entry_terms: With the following, `PackedTerms` of the evidence; but for this, compressed.
        entries: Likewise.
        places: Likewise.
        entry_counts: Likewise.
    """

    texts: bytes
    evidence: bytes
    rows: int
    block_ids: bytes
    kinds: bytes
    sizes: bytes
    vectors: bytes
    different: bytes
    terms: bytes
    counts: bytes
    entry_terms: bytes
    entries: bytes
    places: bytes
    entry_counts: bytes

    def packed_terms(self) -> PackedTerms:
        """Return the terms of the evidence."""
        others = (self.entries, self.places, self.entry_counts)
        return PackedTerms(self.entry_terms, *map(zlib.decompress, others))


_PARTS = ", ".join(Packed._fields)
_MARKS = ", ".join("?" * (1 + len(Packed._fields)))


def table_key(table_id: str) -> int:
    """Return a table's key, 63 bits of its id: no damaged look-up can lead to another table's.

    Among a million tables, two share a key with a probability of 5 in 100 million.
    """
    return int.from_bytes(blake2b(to_blob(table_id), digest_size=8).digest(), "little") >> 1


def to_blob(text: str) -> bytes:
    """Store any string, lone surrogates (undecodable file names) and NUL included."""
    return text.encode("utf-8", "surrogatepass")


def from_blob(blob: bytes) -> str:
    """Undo `to_blob`."""
    return blob.decode("utf-8", "surrogatepass")


def to_kind(name: bytes) -> DocumentKind:
    """Return a stored kind of document.

    Raises:
        SearchIndexError: A newer version has written a name that this version takes for none.
    """
    try:
        return DocumentKind(from_blob(name))
    except ValueError as error:
        raise SearchIndexError(
            f"The search index holds blocks of the kind {from_blob(name)!r}, which is no name of a "
            f"kind here; upgrade pneuma-assets, or {REBUILD}."
        ) from error


@dataclass(frozen=True, slots=True)
class Inputs:
    """What decides all that is kept of a table; equal contents have equal bytes."""

    block_ids: bytes
    vectors: bytes
    evidence: bytes

    @classmethod
    def of(cls, table_id: str, contents: TableContents) -> "Inputs":
        """Return them of a table's checked contents; the rules of terms are part of them."""
        evidence, blocks = contents.evidence, contents.blocks
        spelled = evidence.spelled_names, evidence.spelled_columns
        parts = [table_id, evidence.names, evidence.columns, *spelled]
        parts += [evidence.cells, evidence.described]
        # Escapes of JSON would join two surrogates that stand apart, so what is no ASCII stays.
        text = json.dumps(
            [*parts, evidence.rows, TERM_RULES], ensure_ascii=False, separators=(",", ":")
        )
        return cls(
            b"".join(to_blob(item.block.block_id) for item in blocks),
            b"".join(item.vector.tobytes() for item in blocks),
            zlib.compress(to_blob(text)),
        )

    def are_kept(self, connection: sqlite3.Connection, seq: int) -> bool:
        """Tell whether they are those of the contents of this number."""
        found = connection.execute(
            "SELECT block_ids, vectors, evidence FROM contents WHERE seq = ?", (seq,)
        ).fetchone()
        return bool(found == (self.block_ids, self.vectors, self.evidence))


def pack(contents: TableContents, inputs: Inputs, analyzer: Analyzer) -> Packed:
    """Return what is to be stored of a table."""
    blocks, evidence = [item.block for item in contents.blocks], contents.evidence
    texts = [to_blob(block.text) for block in blocks]
    counted = [count_terms(analyzer.terms(block.text)) for block in blocks]
    terms = pack_terms(() if evidence == TableTerms() else field_entries(evidence, analyzer))
    return Packed(
        b"".join(texts),
        inputs.evidence,
        len(evidence.rows),
        inputs.block_ids,
        b"\n".join(to_blob(block.kind) for block in blocks),
        np.array([len(one) for one in texts], "<u4").tobytes(),
        inputs.vectors,
        np.array([len(keys) for keys, _ in counted], "<u4").tobytes(),
        b"".join(keys.astype("<u8").tobytes() for keys, _ in counted),
        b"".join(counts.astype("<u2").tobytes() for _, counts in counted),
        terms.terms,  # a term's key is a hash, which nothing makes smaller
        *map(zlib.compress, (terms.entries, terms.places, terms.counts)),
    )


def sum_of(key: int, table_id: str, blocks: int, packed: Packed) -> int:
    """Return the one checksum of a table: of all that is kept of it but its facts."""
    return checksum(key, to_blob(table_id), blocks, *packed)


def read_tables(connection: sqlite3.Connection, meta: Meta) -> list[TableRow]:
    """Return all tables, ordered by id.

    Raises:
        IndexDamagedError: A table is not as it was written, or is missing.
    """
    found = [_table(row) for row in connection.execute(f"SELECT {_TABLE} FROM tables")]
    if (len(found), sum(one.blocks for one in found)) != (meta.tables, meta.blocks):
        raise damaged("its list of tables is not complete")
    return sorted(found, key=lambda table: to_blob(table.table_id))


def look_up(connection: sqlite3.Connection, table_id: str) -> TableRow | None:
    """Return one table; None if none of that id is found, of which `find_tables` makes sure."""
    row = connection.execute(
        f"SELECT {_TABLE} FROM tables WHERE key = ?", (table_key(table_id),)
    ).fetchone()
    return None if row is None else _table(row)


def find_tables(
    connection: sqlite3.Connection, table_ids: Iterable[str], meta: Meta
) -> list[TableRow]:
    """Return those of these tables that exist, each once.

    Raises:
        IndexDamagedError: One that exists is not in its place.
    """
    found = {table_id: look_up(connection, table_id) for table_id in table_ids}
    missed = {table_id for table_id, table in found.items() if table is None}
    if missed and not missed.isdisjoint(one.table_id for one in read_tables(connection, meta)):
        raise damaged("a table is not in its place")
    return [table for table in found.values() if table is not None]


def read_packed(
    connection: sqlite3.Connection, last: int = 0, seq: int | None = None
) -> Iterator[tuple[TableRow, Packed]]:
    """Yield the tables above a number, or that of one number, with their contents.

    Raises:
        IndexDamagedError: One is not as it was written.
    """
    which = "seq > ? ORDER BY seq" if seq is None else "seq = ?"
    rows = connection.execute(
        f"SELECT {_TABLE}, {_PARTS} FROM tables JOIN contents USING (seq) WHERE {which}",
        (last if seq is None else seq,),
    )
    width = len(fields(TableRow))
    for row in rows:
        table = _table(row[:width])
        with reading_rows(f"table {table.table_id!r}"):
            packed = Packed(*row[width:])
            if sum_of(table.key, table.table_id, table.blocks, packed) != table.checksum:
                raise damaged(f"table {table.table_id!r} is not as it was written")
        yield table, packed


def read_contents(connection: sqlite3.Connection, table: TableRow, dimension: int) -> TableContents:
    """Return all that is kept of a table; blocks are in the order in which they were written."""
    for found, packed in read_packed(connection, seq=table.seq):
        facts = read_facts(connection, [table.key])
        if table.key not in facts:
            raise damaged("a table's facts are missing")
        blocks = unpack_blocks(found, packed, dimension)
        evidence = unpack_evidence(table, packed.evidence)
        return TableContents(blocks, evidence, facts[table.key].facts)
    raise damaged(f"the contents of table {table.table_id!r} are missing")


def read_evidence(connection: sqlite3.Connection, table: TableRow) -> TableTerms:
    """Return a table's evidence alone, which its compression has a checksum of."""
    found = connection.execute("SELECT evidence FROM contents WHERE seq = ?", (table.seq,))
    with reading_rows("evidence"):
        ((evidence,),) = found
        return unpack_evidence(table, evidence)


def unpack_blocks(table: TableRow, packed: Packed, dimension: int) -> list[EmbeddedBlock]:
    """Return the blocks of a table whose checksum is right."""
    with reading_rows(f"the blocks of table {table.table_id!r}"):
        vectors = np.frombuffer(packed.vectors, "<f4").reshape(table.blocks, dimension)
        stops = np.cumsum(np.frombuffer(packed.sizes, "<u4"), dtype=np.int64).tolist()
        kinds = kinds_of(packed)
        return [
            EmbeddedBlock(
                Block(table.table_id, to_kind(kind), from_blob(packed.texts[start:stop])),
                vector.astype(np.float32),
            )
            for kind, start, stop, vector in zip(
                kinds, [0, *stops[:-1]] if stops else [], stops, vectors, strict=True
            )
        ]


def kinds_of(packed: Packed) -> list[bytes]:
    """Return the kind of each block, as stored."""
    return packed.kinds.split(b"\n") if packed.kinds else []


def unpack_evidence(table: TableRow, stored: bytes) -> TableTerms:
    """Return evidence that is this table's.

    Raises:
        IndexDamagedError: It is another table's, or holds something else.
    """
    with reading_rows("evidence"):
        found = json.loads(from_blob(zlib.decompress(stored)))
        table_id, names, columns, spelled_names, spelled_columns, *rest = found
        cells, described, rows, _ = rest
        if table_id != table.table_id:
            raise damaged("evidence is not that of its table")
        rows = tuple(tuple(row) for row in rows)
        return TableTerms(
            names=tuple(names),
            columns=tuple(columns),
            spelled_names=spelled_names,
            spelled_columns=spelled_columns,
            rows=rows,
            cells=tuple(cells),
            described=tuple(described),
        )


def insert_table(connection: sqlite3.Connection, table: TableRow, packed: Packed) -> None:
    """Write a table, whose older contents have been removed."""
    connection.execute(
        f"INSERT OR REPLACE INTO tables ({_TABLE}) VALUES (?, ?, ?, ?, ?)",
        (table.seq, table.key, to_blob(table.table_id), table.blocks, table.checksum),
    )
    connection.execute(
        f"INSERT INTO contents (seq, {_PARTS}) VALUES ({_MARKS})", (table.seq, *packed)
    )


def _table(row: Sequence[Any]) -> TableRow:
    with reading_rows("a table"):
        seq, key, table_id, blocks, total = row
        table = TableRow(seq, key, from_blob(table_id), blocks, total)
        if key != table_key(table.table_id):
            raise damaged("a table is not in its place")
        return table


@dataclass(frozen=True, slots=True)
class FactsRow:
    """A table's facts as the file holds them; `key` is the table's."""

    seq: int
    key: int
    facts: TableFacts


@dataclass(frozen=True, slots=True)
class FactsSnapshot:
    """The facts of all tables of one generation, by their keys; `last` is the highest number."""

    by_key: Mapping[int, FactsRow] = field(default_factory=dict)
    last: int = 0

    def followed(self, connection: sqlite3.Connection, gone: Collection[int]) -> "FactsSnapshot":
        """Return them without what these numbers had, followed by all that is new in the file.

        Raises:
            IndexDamagedError: Facts are not as they were written.
        """
        cursor = connection.execute(
            "SELECT seq, key, facts, checksum FROM facts WHERE seq > ? ORDER BY seq", (self.last,)
        )
        added = list(map(_facts, cursor))
        numbers = set(gone)
        if not added and not any(row.seq in numbers for row in self.by_key.values()):
            return self
        kept = {key: row for key, row in self.by_key.items() if row.seq not in numbers}
        kept.update((row.key, row) for row in added)
        return FactsSnapshot(kept, added[-1].seq if added else self.last)

    def seen_by(self, readers: Collection[str]) -> npt.NDArray[np.int64]:
        """Return the keys of the tables that are shown to who asks as these, ascending."""
        keys = (key for key, row in self.by_key.items() if is_seen(row.facts, readers))
        return np.sort(np.fromiter(keys, np.int64))


def read_facts(connection: sqlite3.Connection, keys: Sequence[int]) -> dict[int, FactsRow]:
    """Return the facts of those of these tables that exist, by their keys.

    Raises:
        IndexDamagedError: Some are not as they were written.
    """
    rows = connection.execute(
        "SELECT seq, key, facts, checksum FROM facts WHERE key IN (SELECT value FROM json_each(?))",
        (json.dumps(keys),),
    )
    return {row.key: row for row in map(_facts, rows)}


def insert_facts(connection: sqlite3.Connection, seq: int, key: int, facts: TableFacts) -> None:
    """Write the facts of a table."""
    blob = to_blob(facts_text(facts))
    row = (seq, key, blob, checksum(seq, key, blob))
    connection.execute("INSERT INTO facts VALUES (?, ?, ?, ?)", row)


def _facts(row: Sequence[Any]) -> FactsRow:
    with reading_rows("the facts of a table"):
        seq, key, blob, total = row
        if total != checksum(seq, key, blob):
            raise damaged(f"facts {seq} are not as they were written")
        return FactsRow(seq, key, facts_from(from_blob(blob)))
