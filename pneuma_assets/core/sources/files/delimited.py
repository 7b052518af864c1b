"""How CSV is read: DuckDB finds the dialect, and then every cell is taken as the file spells it.

DuckDB tells header, delimiter and types best when it looks for types, but a typed value is
spelled anew ("7" becomes "7.0"). So its guess settles the dialect and names the types, and the
file is read as text. Each attempt reads the whole file, the strictest first. The one exception are
numbers with a decimal comma, which get a point, so that all else knows them for numbers.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import duckdb

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.relation import WIDE, Relation, readable_columns
from pneuma_assets.core.sources.files.text_layout import (
    DELIMITERS,
    LINE_BYTES,
    SAMPLED_ROWS,
    Layout,
    Options,
    TextFile,
    Unread,
    literal,
    written,
)
from pneuma_assets.core.sources.files.unread_lines import (
    TITLE_LINES,
    Signs,
    has_long_cells,
    unread_csv,
)
from pneuma_assets.core.tables import MISSING
from pneuma_assets.core.text.encoding import HEAD_BYTES

_FIRST_ROWS = 1_000
"""A column that has other cells in these is not looked at further."""

_WHOLE = "(0|[1-9][0-9]{0,17}|[1-9][0-9]{0,2}([.][0-9]{3}){1,5})"
_NUMBER = f" *[+-]?{_WHOLE}(,[0-9]{{1,30}})? *"
_CERTAIN = " *[+-]?([0-9.]+[.][0-9]{3},[0-9]+|[0-9]+,0([0-9]|[0-9]{3,30})) *"
_LIKELY = f"{_CERTAIN}| *[+-]?([0-9]+,([0-9]{{1,2}}|[0-9]{{4,}})|(0|[0-9]{{4,}}),[0-9]+) *"
_SEEN = re.compile(rb"[0-9],[0-9]")
_SEEN_QUOTED = re.compile(rb'"[ +-]*[0-9][0-9.]*,[0-9]+ *"')


def _decimal_columns(file: TextFile, sql: str, kinds: Sequence[str], delimiter: str) -> list[int]:
    """Return the positions of columns of such numbers, among those of text, as `sql` reads them."""
    by_commas = delimiter == ","
    if not (_SEEN_QUOTED if by_commas else _SEEN).search(file.head):
        return []
    found = [position for position, kind in enumerate(kinds) if kind == "VARCHAR"]
    for rows in (f" LIMIT {_FIRST_ROWS}", ""):
        cells = f"SELECT * FROM {Relation(sql).aliased(len(kinds))}{rows}"
        looked_at, found = found, []
        for some in chunks(looked_at, WIDE):
            checks = (
                f"bool_and(CASE WHEN c{at} NOT IN ({_NULLS}) "
                f"THEN regexp_full_match(c{at}, {literal(_NUMBER)}) END), "
                f"bool_or(regexp_full_match(c{at}, {literal(_CERTAIN if by_commas else _LIKELY)}))"
                for at in some
            )
            (answers,) = file.ask(f"SELECT {', '.join(checks)} FROM ({cells})").fetchall()
            pairs = zip(some, answers[::2], answers[1::2], strict=True)
            found += [at for at, every, one in pairs if every and (one or rows)]
    return found


def _evident_delimiter(head: bytes) -> str:
    """Return what parts the cells of a file whose commas may be decimal; empty: nothing is evident.

    It stands in every line equally often, and in the first there is no comma. DuckDB takes the
    commas for delimiters where every cell has one.
    """
    complete = head if len(head) < HEAD_BYTES else head.rpartition(b"\n")[0]
    lines = [line for line in complete.splitlines() if line.strip()][:_FIRST_ROWS]
    if len(lines) < 2 or b"," in lines[0] or not any(_SEEN.search(line) for line in lines):
        return ""
    for sign in (b";", b"\t", b"|"):
        if sign in lines[0] and len({line.count(sign) for line in lines}) == 1:
            return sign.decode()
    return ""


def _with_points(sql: str, width: int, positions: Sequence[int]) -> str:
    """Return how to read a file so that these columns have a decimal point: 1234.56."""
    cells = (
        f"replace(replace(c{at}, '.', ''), ',', '.')" if at in positions else f"c{at}"
        for at in range(width)
    )
    return f"(SELECT {', '.join(cells)} FROM {Relation(sql).aliased(width)})"


def _unescaped(sql: str, width: int, *, quoted: bool) -> str:
    """Return how to read a file whose quotes in cells are doubled, which DuckDB did not notice.

    Unless DuckDB removes the quotes around cells (`quoted`), it is done here for whole ones.
    """
    cell = "replace({0}, '\"\"', '\"')"
    if not quoted:
        whole = """regexp_full_match({0}, '"([^"]|"")*"')"""
        cell = f"CASE WHEN {whole} THEN {cell.format('{0}[2:-2]')} ELSE {{0}} END"
    cells = ", ".join(cell.format(f"c{at}") for at in range(width))
    return f"(SELECT {cells} FROM {Relation(sql).aliased(width)})"


_NULLS = ", ".join(map(literal, MISSING))

_BUFFERS: Options = {
    # Rows of up to 16 MB, in buffers that still fit the memory limit.
    "max_line_size": str(LINE_BYTES),
    "buffer_size": "33554432",
    "hive_partitioning": "false",
}
_OWN = {*_BUFFERS, "columns", "auto_detect", "parallel"}
_STRICT: Options = {}
# Only the serial reader pads short rows where quoted cells hold line breaks.
_PADDED: Options = {"null_padding": "true", "parallel": "false"}
_LOOSE: Options = {**_PADDED, "strict_mode": "false"}
_LOSSY: Options = {**_LOOSE, "ignore_errors": "true"}

_SEP_LINE = re.compile(rb"sep=([;,|\t])\r?\n", re.IGNORECASE)
_WIDER = re.compile(r"Expected Number of Columns: \d+ Found: (\d+)")
_WIDENINGS = 8
_NOTHING = "(empty)"
_SWALLOWED = "a quote that is not closed takes all rows into the header"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What DuckDB guessed of a file."""

    signs: Options
    columns: Sequence[tuple[str, str]]
    formats: Options
    has_header: bool

    @property
    def undelimited(self) -> bool:
        """Whether the only column's name holds a delimiter: another one was not recognised."""
        return len(self.columns) == 1 and not DELIMITERS.isdisjoint(self.columns[0][0])

    def passes_over(self, file: TextFile, row_count: int) -> bool:
        """Tell whether lines that DuckDB skips look like rows, and no better ones follow."""
        skipped = int(self.signs["skip"])
        lines = file.head.splitlines()[: skipped + 1]
        # Without quotes, cells that hold delimiters make rows wider than their header.
        unquoted = self.signs["quote"] == "''" and any(b'"' in line for line in lines)
        if skipped == 0 or (self.has_header and row_count > skipped and not unquoted):
            return False
        delimiter = self.signs["delim"].strip("'").encode()
        return not row_count or any(delimiter in line for line in lines[:skipped])


def find_layout(file: TextFile, *, tabs: bool) -> Layout:
    """Read a CSV file by the strictest options that work.

    `tabs` says that its name promises tabs: they are tried first.

    Raises:
        duckdb.Error: No options work.
    """
    failure: duckdb.Error | None = None
    for options, announced in _attempts(_announced(file, tabs=tabs)):
        try:
            dialect = _sniff(file, {**options, **announced})
            check_width(len(dialect.columns))
            if dialect.undelimited and (announced or options == _STRICT):
                continue  # not the announced delimiter, or ragged rows hide it
            for quotes in _quotes(dialect, options):
                try:
                    layout = _read(file, dialect, {**quotes, **options})
                except duckdb.Error as error:
                    file.judge(error)
                    failure = error
                    continue
                skips = options == _STRICT and "skip" not in announced
                if skips and dialect.passes_over(file, layout.row_count):
                    break  # the beginning of ragged rows was taken for a preamble
                if layout.row_count or not layout.unread.lines:
                    return layout
                failure = duckdb.InvalidInputException(_SWALLOWED)
        except duckdb.Error as error:
            file.judge(error)
            failure = error
    raise failure or duckdb.InvalidInputException("no delimiter can be recognised")


def _sniff(file: TextFile, options: Options) -> Dialect:
    """Guess dialect, names and types from the beginning of a file."""
    found = _sniffed(file, {**options, "nullstr": f"[{_NULLS}]"})
    columns = [(column["name"], column["type"]) for column in found["Columns"]]
    if found["HasHeader"] and any(name == f"column{i}" for i, (name, _) in enumerate(columns)):
        # A column may be called "NA"; without a list of nulls it keeps its name.
        plain = _sniffed(file, options)
        if plain["HasHeader"] and len(plain["Columns"]) == len(columns):
            pairs = zip(plain["Columns"], columns, strict=True)
            columns = [(named["name"], kind) for named, (_, kind) in pairs]
    signs = {name.lower(): found[name] for name in ("Quote", "Escape", "Comment")}
    signs["delim"] = found["Delimiter"]
    formats = {"DATE": found["DateFormat"], "TIMESTAMP": found["TimestampFormat"]}
    return Dialect(
        {
            **{name: literal("" if sign == _NOTHING else sign) for name, sign in signs.items()},
            "skip": str(found["SkipRows"]),
        },
        columns,
        {kind: text for kind, text in formats.items() if text},
        bool(found["HasHeader"]),
    )


def _sniffed(file: TextFile, options: Options) -> dict[str, Any]:
    # Padding in parallel is no matter of the guess.
    options = {name: value for name, value in options.items() if name != "parallel"}
    if "null_padding" in options:
        options = {**options, "strict_mode": "false"}
    try:
        answer = file.ask(f"SELECT * FROM sniff_csv(?, {written({**_BUFFERS, **options})})")
    except duckdb.OutOfMemoryException:  # it keeps rows of a wide table for each way to quote
        if "quote" in options:
            raise
        return _sniffed(file, {**options, "quote": literal('"'), "escape": literal('"')})
    names = [column[0] for column in answer.description]
    return dict(zip(names, answer.fetchall()[0], strict=True))


def _announced(file: TextFile, *, tabs: bool) -> Options:
    """Return what file or name say of the delimiter, and of lines above the header.

    A first line `sep=;` tells Excel the delimiter. Lines of comments begin with `#`; the last one
    may be the header, which has as many delimiters as the line below it.
    """
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    if first := _SEP_LINE.match(head):
        return {"delim": literal(first[1].decode()), "skip": "1"}
    lines = head.splitlines()
    comments = sum(1 for _ in takewhile(lambda line: line.startswith(b"#"), lines))
    if 0 < comments < len(lines):
        above, below = lines[comments - 1], lines[comments]
        signs = [sign for sign in b",;|\t" if sign in below]
        if not any(above.count(sign) == below.count(sign) for sign in signs):
            return {"skip": str(comments)}
    delimiter = "\t" if tabs else _evident_delimiter(head)
    return {"delim": literal(delimiter)} if delimiter else {}


def _attempts(announced: Options) -> Iterator[tuple[Options, Options]]:
    if announced:
        yield _STRICT, announced
        yield _PADDED, announced
    for options in (_STRICT, _PADDED, _LOOSE, _LOSSY):
        yield options, {}


def _quotes(dialect: Dialect, options: Options) -> Iterator[Options]:
    """Yield the ways to quote, likeliest first.

    Where the rows that DuckDB looked at have no quotes, later ones may have the usual ones; a
    strict reading fails if they mean something else. A lenient one must not try that.
    """
    signs = {name: dialect.signs[name] for name in ("quote", "escape")}
    quote = signs["quote"] if signs["quote"] != "''" else literal('"')
    if "strict_mode" not in options:
        yield {"quote": quote, "escape": signs["escape"] if signs["escape"] != "''" else quote}
    if signs["quote"] == "''" or "strict_mode" in options:
        yield signs


def _read(file: TextFile, dialect: Dialect, options: Options) -> Layout:
    """Read a file; where later rows are longer than DuckDB guessed, with more columns."""
    columns = list(dialect.columns)
    ragged = "null_padding" in options and "strict_mode" not in options
    for _ in range(_WIDENINGS):
        try:
            return _read_as(file, dialect, columns, options)
        except duckdb.Error as error:
            wider = _WIDER.search(" ".join(str(error).split()))
            if not (ragged and wider and int(wider[1]) > len(columns)):
                raise
            columns += [(f"column{i}", "VARCHAR") for i in range(len(columns), int(wider[1]))]
    return _read_as(file, dialect, columns, options)


def _read_as(
    file: TextFile, dialect: Dialect, columns: Sequence[tuple[str, str]], options: Options
) -> Layout:
    names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(columns)))
    every = {
        **_BUFFERS,
        **dialect.signs,
        **options,
        **({"parallel": "false"} if len(columns) > WIDE else {}),  # each thread keeps as much
        "auto_detect": "false",
        "header": str(dialect.has_header).lower(),
        "columns": f"{{{names}}}",
    }
    sql = f"read_csv(?, {written(every)})"
    if every["escape"] == "''" and b'"' in file.head:
        sql = _unescaped(sql, len(columns), quoted=every["quote"] != "''")
    checks = [_misfits(i, kind, dialect.formats) for i, (_, kind) in enumerate(columns)]
    row_count, misfits = file.read(sql, len(columns), checks)
    if row_count > SAMPLED_ROWS and any(misfits):
        columns = _retyped(file, columns, misfits, options)
    kinds, delimiter = [kind for _, kind in columns], dialect.signs["delim"].strip("'")
    numbers = _decimal_columns(file, sql, kinds, delimiter)
    if numbers:
        sql = _with_points(sql, len(columns), numbers)
        file.read(sql, len(columns))
        columns = [
            (name, "DOUBLE" if i in numbers else kind) for i, (name, kind) in enumerate(columns)
        ]
    formats = {f"{kind.lower()}format": literal(text) for kind, text in dialect.formats.items()}
    told = {name: value for name, value in every.items() if name not in _OWN} | formats
    if numbers:
        told |= {"decimal_separator": "','", "thousands": "'.'"}
        told = {} if "DOUBLE" in kinds else told  # no option is of some columns alone
    lossy, unaligned = "ignore_errors" in options, "null_padding" in options
    unread = _unread(file, every, len(columns), row_count)
    return Layout(sql, tuple(readable_columns(columns)), row_count, lossy, unread, unaligned, told)


def _unread(file: TextFile, options: Options, width: int, row_count: int) -> Unread:
    """Count what a reading loses: a strict one rows in the header or in a cell, and long titles."""
    signs, most = Signs.of(options), width if "strict_mode" in options else None
    rows = row_count + (options["header"] == "true")
    broken = "null_padding" in options or not row_count
    broken = broken or has_long_cells(file, signs.skipped + rows)
    if not broken and signs.skipped <= TITLE_LINES:
        return Unread()
    return unread_csv(file, signs, most, rows, broken=broken)


def _misfits(position: int, kind: str, formats: Options) -> str:
    """Return SQL that counts the values of a column that are not of the type that was guessed."""
    if kind == "VARCHAR":
        return "0"
    cell = f"c{position}"
    misfits = f"TRY_CAST({cell} AS {kind}) IS NULL"
    if kind in formats:
        misfits = f"try_strptime({cell}, {literal(formats[kind])}) IS NULL"
    elif kind == "BIGINT":  # a cast rounds
        misfits = f"({misfits} OR regexp_matches({cell}, '[.eE]'))"
    # With FILTER, DuckDB keeps room for a batch of every column for each of the counts.
    return f"count(CASE WHEN {cell} NOT IN ({_NULLS}) AND {misfits} THEN 1 END)"


def _retyped(
    file: TextFile, columns: Sequence[tuple[str, str]], misfits: Sequence[int], options: Options
) -> list[tuple[str, str]]:
    """Take the types of columns in which later values do not fit from a look at all rows."""
    kinds = ["VARCHAR"] * len(columns)
    try:
        again = _sniff(file, {**options, "sample_size": "-1"}).columns
    except duckdb.OutOfMemoryException:
        again = ()
    if len(again) == len(columns):
        kinds = [kind for _, kind in again]
    return [(name, kinds[i] if misfits[i] else kind) for i, (name, kind) in enumerate(columns)]
