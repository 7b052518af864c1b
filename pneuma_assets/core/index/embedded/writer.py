"""Writing the embedded index: a table is replaced inside one transaction."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from pneuma_assets.core.index.embedded.bm25 import count_terms
from pneuma_assets.core.index.embedded.evidence_rows import (
    check_terms,
    insert_evidence,
    read_text,
)
from pneuma_assets.core.index.embedded.evidence_terms import pack_terms
from pneuma_assets.core.index.embedded.evidence_text import pack_text
from pneuma_assets.core.index.embedded.facts import facts_of, insert_facts
from pneuma_assets.core.index.embedded.meta import read_meta, write_meta
from pneuma_assets.core.index.embedded.records import Records
from pneuma_assets.core.index.embedded.sqlite_file import to_blob
from pneuma_assets.core.index.embedded.sums import (
    block_sum,
    damaged,
    table_key,
    table_sum,
    wrapped,
)
from pneuma_assets.core.index.embedded.tables import (
    TableRow,
    check_total,
    read_stored,
    read_table,
)
from pneuma_assets.core.tables import Block, TableFacts, TableTerms
from pneuma_assets.core.terms.fields import field_entries
from pneuma_assets.core.text.analysis import Analyzer

_REMOVALS_LOGGED = 50_000
"""Beyond this many, the log starts anew, and readers that are behind load everything."""


class Writer:
    """Changes the tables of one open transaction; call `finish` before it commits.

    What it builds on is checked first: a table whose rows are not as they were written raises
    `IndexDamagedError`, so no checksum is ever made of what is damaged.
    """

    def __init__(self, connection: sqlite3.Connection, analyzer: Analyzer) -> None:
        self._connection = connection
        self._analyzer = analyzer
        self._before = self._meta = read_meta(connection)

    def replace(self, table_id: str, records: Records) -> None:
        """Make all that is kept of a table exactly this; what is equal stays untouched."""
        old = read_table(self._connection, table_id)
        stored = [] if old is None else read_stored(self._connection, old)
        ids = {one.seq: to_blob(one.block.block_id) for one in stored}
        blocks = records.blocks
        kept = {
            ids[one.seq]: one.checksum
            for one in stored
            if ids[one.seq] in blocks and blocks[ids[one.seq]][1] == one.vector
        }
        self._remove([one.seq for one in stored if ids[one.seq] not in kept])
        key = table_key(to_blob(table_id))
        checksums = [*kept.values()]
        for block_id, (block, vector) in blocks.items():
            if block_id not in kept:
                checksums.append(self._insert(key, block_id, block, vector))
        self._record(table_id, old, checksums, self._evidence(key, old, records.evidence))
        self._facts(key, old, records.facts)

    def set_facts(self, table_id: str, facts: TableFacts) -> None:
        """Tell anew what is known of a table; an unknown one is ignored."""
        table = read_table(self._connection, table_id)
        if table is not None:
            self._facts(table.key, table, facts)

    def delete(self, table_ids: Sequence[str]) -> None:
        """Remove tables and all that is kept of them; unknown ids are ignored."""
        for table_id in table_ids:
            table = read_table(self._connection, table_id)
            if table is None:
                continue
            blocks = self._connection.execute(
                "SELECT seq, checksum FROM blocks JOIN features USING (seq) WHERE table_key = ?",
                (table.key,),
            ).fetchall()
            check_total(table, [checksum for _, checksum in blocks])
            self._remove([seq for seq, _ in blocks])
            self._evidence(table.key, table, TableTerms())
            self._facts(table.key, table, None)
            self._run("DELETE FROM tables WHERE key = ?", [(table.key,)])
            self._count(table, None)

    def finish(self) -> int | None:
        """Tell readers that something changed, if it did, and keep the log of removals short.

        Returns the number of the new state; None if nothing changed.
        """
        if self._meta == self._before:
            return None
        generation = self._generation
        meta = replace(self._meta, generation=generation)
        (logged,) = self._connection.execute("SELECT count(*) FROM removed").fetchone()
        if logged > _REMOVALS_LOGGED:
            self._connection.execute("DELETE FROM removed")
            meta = replace(meta, log_since=generation)
        write_meta(self._connection, meta)
        return generation

    @property
    def index_id(self) -> str:
        """Which index this is; one that is built anew has another id."""
        return self._before.index_id

    @property
    def _generation(self) -> int:
        return self._before.generation + 1

    def _record(
        self,
        table_id: str,
        old: TableRow | None,
        checksums: Sequence[int],
        evidence: int | None,
    ) -> None:
        """Make the table's row tell of these blocks and this evidence."""
        name = to_blob(table_id)
        key, blocks, total = table_key(name), len(checksums), wrapped(sum(checksums))
        checksum = table_sum(key, name, blocks, total, evidence)
        new = TableRow(key, name, blocks, total, checksum, evidence)
        if new == old:
            return
        self._connection.execute(
            "INSERT OR REPLACE INTO tables (key, table_id, blocks, total, checksum, evidence)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (new.key, new.table_id, new.blocks, new.total, new.checksum, new.evidence),
        )
        self._count(old, new)

    def _count(self, old: TableRow | None, new: TableRow | None) -> None:
        """Take an older row of a table out of the sums of the whole index, and add a newer."""
        meta = self._meta
        for sign, row in ((-1, old), (1, new)):
            if row is not None:
                meta = replace(
                    meta,
                    tables=meta.tables + sign,
                    table_sums=wrapped(meta.table_sums + sign * row.checksum),
                    blocks=meta.blocks + sign * row.blocks,
                    block_sums=wrapped(meta.block_sums + sign * row.total),
                    evidence=meta.evidence + sign * (row.evidence is not None),
                    evidence_sums=wrapped(meta.evidence_sums + sign * (row.evidence or 0)),
                )
        self._meta = meta

    def _insert(self, key: int, block_id: bytes, block: Block, vector: bytes) -> int:
        """Write a new block and return its checksum."""
        seq = self._next_seq()
        keys, numbers = count_terms(self._analyzer.terms(block.text))
        terms, counts = keys.astype("<u8").tobytes(), numbers.astype("<u2").tobytes()
        kind = to_blob(block.kind)
        checksum = block_sum(seq, key, block_id, kind, vector, terms, counts)
        self._connection.execute(
            "INSERT INTO blocks (seq, block_id, table_key, kind, text) VALUES (?, ?, ?, ?, ?)",
            (seq, block_id, key, kind, to_blob(block.text)),
        )
        self._connection.execute(
            "INSERT INTO features (seq, vector, terms, counts, checksum) VALUES (?, ?, ?, ?, ?)",
            (seq, vector, terms, counts, checksum),
        )
        return checksum

    def _evidence(self, key: int, old: TableRow | None, evidence: TableTerms) -> int | None:
        """Make this a table's evidence; returns the sum of its checksums, None for none at all."""
        stored = None if old is None else read_text(self._connection, old)
        text = None if evidence == TableTerms() else pack_text(evidence)
        if stored is not None and old is not None:
            seq, known = stored
            check_terms(self._connection, seq)
            if text == known:
                return old.evidence
            self._remove([seq], ("evidence", "evidence_terms"))
        if text is None:
            return None
        terms = pack_terms(field_entries(evidence, self._analyzer))
        return insert_evidence(self._connection, self._next_seq(), key, text, terms)

    def _facts(self, key: int, old: TableRow | None, facts: TableFacts | None) -> None:
        """Make these a table's facts; None where it goes."""
        sums = self._meta.facts_sums
        if old is not None:
            known = facts_of(self._connection, key)
            if known.facts == facts:
                return
            self._remove([known.seq], ("facts",))
            sums -= known.checksum
        if facts is not None:
            sums += insert_facts(self._connection, [(self._next_seq(), key, facts)])
        self._meta = replace(self._meta, facts_sums=wrapped(sums))

    def _next_seq(self) -> int:
        self._meta = replace(self._meta, last_seq=self._meta.last_seq + 1)
        return self._meta.last_seq

    def _remove(self, seqs: Sequence[int], parts: Sequence[str] = ("blocks", "features")) -> None:
        for part in parts:
            self._run(f"DELETE FROM {part} WHERE seq = ?", [(seq,) for seq in seqs])
        self._connection.executemany(
            "INSERT INTO removed VALUES (?, ?)", ((self._generation, seq) for seq in seqs)
        )

    def _run(self, statement: str, parameters: Sequence[tuple[int, ...]]) -> None:
        if not parameters:
            return
        if self._connection.executemany(statement, parameters).rowcount != len(parameters):
            raise damaged("a row that is to be removed is not in its place")
