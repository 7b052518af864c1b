"""A table's evidence as the file keeps it: text, compressed.

The rows are apart from the rest, so that what a table is called can be read without them.
"""

import json
import zlib
from dataclasses import dataclass

from pneuma_assets.core.index.embedded.sqlite_file import from_blob, to_blob
from pneuma_assets.core.index.embedded.sums import reading_rows
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import TERM_RULES


@dataclass(frozen=True, slots=True)
class PackedText:
    """Evidence as it is stored, and the rules by which its terms were made.

    Equal evidence has equal bytes as long as these rules and zlib are the same.
    """

    parts: bytes
    rows: bytes


def pack_text(evidence: TableTerms) -> PackedText:
    """Return what is to be stored."""
    spelled = evidence.spelled_names, evidence.spelled_columns
    parts = [evidence.names, evidence.columns, *spelled, evidence.cells, TERM_RULES]
    return PackedText(_pack(parts), _pack(evidence.rows))


def unpack_text(packed: PackedText) -> TableTerms:
    """Undo `pack_text`.

    Raises:
        IndexDamagedError: It holds something else.
    """
    with reading_rows("evidence"):
        # The rules stand last; evidence written before there was a number of them has none.
        names, columns, spelled_names, spelled_columns, cells, *_ = _unpack(packed.parts)
        rows = tuple(tuple(row) for row in _unpack(packed.rows))
        return TableTerms(
            tuple(names), tuple(columns), spelled_names, spelled_columns, rows, tuple(cells)
        )


def has_rows(rows: bytes) -> bool:
    """Tell whether there is any row among `PackedText.rows`.

    Raises:
        IndexDamagedError: They hold something else.
    """
    with reading_rows("evidence"):
        return bool(_unpack(rows))


def _pack(value: object) -> bytes:
    # Escapes of JSON would join two surrogates that stand apart, so what is no ASCII stays.
    return zlib.compress(to_blob(json.dumps(value, ensure_ascii=False, separators=(",", ":"))))


def _unpack(data: bytes) -> list:  # type: ignore[type-arg]  # what comes out is checked above
    found = json.loads(from_blob(zlib.decompress(data)))
    if not isinstance(found, list):
        raise TypeError("no list")
    return found
