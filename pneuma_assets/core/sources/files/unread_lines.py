"""Which lines of a text file its rows lack, where DuckDB reads the file and does not tell.

An unclosed quote takes the lines after it into its cell, be it to the end of the file; a cut line
of JSON becomes a row without values. Of files that could be read strictly only those are looked at
whose header or cells may hold rows.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from functools import partial
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pneuma_assets.core.sources.duckdb.relation import POSITION, Relation
from pneuma_assets.core.sources.files.text_layout import (
    DELIMITERS,
    LINE_BYTES,
    Options,
    TextFile,
    Unread,
)
from pneuma_assets.core.text.encoding import unpacked

TITLE_LINES = 20
"""So many lines that DuckDB passes over, above the header, are titles; more may be rows."""
_ALIKE = 3
"""So many lines in one record, most of which have as many cells as the header, are rows."""
_CUT = "unexpected end of data"


class Signs(NamedTuple):
    """How DuckDB is told to read CSV: a character each, or nothing; lines that it passes over."""

    delimiter: str
    quote: str
    escape: str
    comment: str
    skipped: int

    @classmethod
    def of(cls, options: Options) -> "Signs":
        """Return those of options of `read_csv`."""
        named = [options[name] for name in ("delim", "quote", "escape", "comment")]
        delimiter, quote, escape, comment = (one[1:-1].replace("''", "'") for one in named)
        return cls(delimiter, quote, escape, comment, int(options["skip"]))


def has_long_cells(file: TextFile, rows: int) -> bool:
    """Tell whether there are so many more lines than `rows` that a cell may hold some of them."""
    with Path(file.name).open("rb") as packed:
        chunks = iter(partial(unpacked(packed).read, 1 << 20), b"")
        return sum(chunk.count(b"\n") for chunk in chunks) >= rows + _ALIKE - 1


def unread_csv(
    file: TextFile, signs: Signs, width: int | None, rows: int, *, broken: bool
) -> Unread:
    """Count the lines above the header that may be rows and, where the file is `broken`, others.

    These are lines that are no rows of their own, or have more than `width` cells. They are a lower
    bound where a strict reader finds even more records than `rows`, which DuckDB reads with the
    header, or takes several lines for one row, since stray quotes can look like those of a cell.

    A quote that is not doubled inside quotes is no matter where its row ends with its line.
    """
    usual = csv.field_size_limit(LINE_BYTES)
    try:
        with Path(file.name).open("rb") as packed:
            lines = _lines(packed, signs, width or 0)
            passed = enumerate(islice(lines, signs.skipped), 1)
            above = [
                at for at, line in passed if line[:1] != "#" and not DELIMITERS.isdisjoint(line)
            ]
            found = [(above[0], len(above))] if len(above) > TITLE_LINES else []
            odd, missing, spanning = 0, -rows, False
            for at, count, is_broken in _records(lines, signs, width) if broken else ():
                missing += count if is_broken else 1
                odd = odd or (at if is_broken is None else 0)
                spanning = spanning or (count > 1 and not is_broken)
                found += [(at, count)] if is_broken else []
    finally:
        csv.field_size_limit(usual)
    counted = sum(lines for _, lines in found)
    uncertain = missing > counted or (counted > 0 and spanning)
    return Unread(max(counted, missing), found[0][0] if found else odd, at_least=uncertain)


def _lines(packed: BinaryIO, signs: Signs, width: int) -> Iterator[str]:
    """Yield lines; one that is longer than a row may be has more than `width` cells."""
    text = TextIOWrapper(unpacked(packed), "utf-8-sig", "replace", newline="")
    while line := text.readline(LINE_BYTES):
        if len(line) == LINE_BYTES:
            while line and line[-1] not in "\r\n":
                line = text.readline(LINE_BYTES)
            line = signs.delimiter * width + "\n"
        yield "\n" if signs.comment and line.startswith(signs.comment) else line


def _records(
    lines: Iterator[str], signs: Signs, width: int | None
) -> Iterator[tuple[int, int, bool | None]]:
    """Yield the first line, from 1, and the number of lines of each record.

    The third value tells whether it is not one row; None: its quotes are odd, but it may be one.
    """
    taken: list[str] = []

    def kept() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    doubled = signs.escape in {"", signs.quote}
    reader = csv.reader(
        kept(),
        delimiter=signs.delimiter,
        quotechar=signs.quote or None,
        quoting=csv.QUOTE_MINIMAL if signs.quote else csv.QUOTE_NONE,
        doublequote=doubled,
        escapechar=None if doubled else signs.escape,
        skipinitialspace=True,
        strict=True,
    )
    row: list[str] | None = []
    delimiters, sign = 0, re.compile(re.escape(signs.delimiter))
    while row is not None:
        before, broken = reader.line_num, None
        taken.clear()
        try:
            row = next(reader, None)
            if not delimiters and row:
                delimiters = len(row) - 1
                if f"{signs.delimiter} " not in taken[0]:  # blanks behind commas are those of texts
                    sign = re.compile(f"{re.escape(signs.delimiter)}(?! )")
            broken = _are_rows(taken, sign, delimiters)
            broken = broken or (width is not None and len(row or ()) > width)
        except csv.Error as error:
            row = [""] * 2
            broken = reader.line_num > before + 1 or str(error) == _CUT or None
        if row and (len(row) > 1 or row[0]):
            yield signs.skipped + before + 1, reader.line_num - before, broken


def _are_rows(lines: Sequence[str], sign: re.Pattern[str], delimiters: int) -> bool:
    if len(lines) < _ALIKE or delimiters < 2:  # a comma each is usual in texts
        return False
    return sum(len(sign.findall(line)) == delimiters for line in lines) * 2 > len(lines)


def without_empty_rows(file: TextFile, sql: str, width: int) -> tuple[str, Unread]:
    """Return how to read JSON Lines without the rows that hold nothing, and what these are."""
    rows = Relation(sql).aliased(width)
    empty = " AND ".join(f"c{i} IS NULL" for i in range(width))
    ((lines, first),) = file.ask(
        f"SELECT count(*), min(position) FROM (SELECT *, {POSITION} AS position FROM {rows}) "
        f"WHERE {empty}"
    ).fetchall()
    if not lines:
        return sql, Unread()
    with Path(file.name).open("rb") as packed:
        numbers = (at for at, line in enumerate(unpacked(packed), 1) if line.strip())
        number = next(islice(numbers, first, None), 0)
    return f"(SELECT * FROM {rows} WHERE NOT ({empty}))", Unread(lines, number)
