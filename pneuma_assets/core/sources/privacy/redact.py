"""Profiles, rows, batches and error messages of a table without what rules hide of them."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from traceback import walk_tb

import pyarrow as pa
from sqlglot import TokenType

from pneuma_assets.core.errors import PneumaError, TableReadError
from pneuma_assets.core.lineage.parse import UnreadableSQLError, dialect_of, tokens_of
from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.tables import LISTED_VALUES, Definition, ForeignKey, RowMark, Table

_BEFORE_NAMES = {*(TokenType.FROM, TokenType.JOIN, TokenType.VIEW, TokenType.ALIAS, TokenType.DOT)}
_OURS = "pneuma_assets."
_LEFT_OUT = (
    "what it said is left out, since it may quote hidden values (privacy); read the table with the "
    "engine's own tools to see it"
)


def redact_table(table: Table, hidden: Collection[int], rules: Rules) -> Table:
    """Return a profile that tells which columns are hidden, and no value of these.

    Types lose the values that an ENUM or a SET lists, and queries of views all their constants: one
    may stand in a table whose own columns are all shown.
    """
    names = _replacements(table, hidden) if rules.config.hide_names else {}
    columns = list(table.columns)
    for at in hidden:
        columns[at] = replace(
            columns[at],
            name=names.get(columns[at].name, columns[at].name),
            type=LISTED_VALUES.sub(r"\1", columns[at].type),
            comment="" if columns[at].name in names else columns[at].comment,
            hidden=True,
        )
    return replace(
        table,
        columns=tuple(columns),
        primary_key=tuple(names.get(name, name) for name in table.primary_key),
        foreign_keys=tuple(_redact_key(key, names, rules) for key in table.foreign_keys),
        definition=_without_constants(table.definition, rules),
    )


def _replacements(table: Table, hidden: Collection[int]) -> dict[str, str]:
    """Return what hidden columns are called in place of their names."""
    taken = {column.name for column in table.columns}
    names = {}
    for position in sorted(hidden):
        name = f"hidden_{position + 1}"
        while name in taken:
            name += "_"
        taken.add(name)
        names[table.columns[position].name] = name
    return names


def _redact_key(key: ForeignKey, names: Mapping[str, str], rules: Rules) -> ForeignKey:
    if not rules.config.hide_names:
        return key
    others = tuple("hidden" if rules.names(n, key.table) else n for n in key.other_columns)
    own = tuple(names.get(name, name) for name in key.columns)
    return ForeignKey(own, key.table, others)


def _without_constants(query: Definition | None, rules: Rules) -> Definition | None:
    """Return a view's query without constants and comments; none where names are hidden, too.

    Of a query whose words cannot be told apart nothing is left.
    """
    if query is None or rules.config.hide_names:
        return None
    sql, parts, last = query.sql, [], 0
    try:
        tokens = tokens_of(sql, dialect_of(query))
    except UnreadableSQLError:
        return replace(query, sql="")
    before: TokenType | None = None
    for at, token in enumerate(tokens):
        if token.start < last:
            continue  # of 58L, Hive's tokenizer makes a number and its cast
        gap, word = sql[last : token.start], sql[token.start : token.end + 1]
        after = tokens[at + 1].token_type if at + 1 < len(tokens) else None
        if f"_{token.token_type.name}".endswith("_STRING"):
            word = "''"
        elif token.token_type is TokenType.NUMBER and before is not TokenType.PARAMETER:
            word = "0"
        elif (
            query.dialect == "sqlite"
            and word.startswith('"')
            and before not in _BEFORE_NAMES
            and after is not TokenType.DOT
        ):
            word = '"hidden"'  # SQLite takes it for text where there is no such column
        parts += [gap if not gap or gap.isspace() else " ", word]
        before, last = token.token_type, token.end + 1
    return replace(query, sql="".join(parts))


def redact_row(row: SampledRow, hidden: Collection[int]) -> SampledRow:
    """Return a sampled row without hidden cells, named by those that are shown.

    The source's own name of a row is a hash of all its cells. Whoever read it in the state, and
    the other cells beside it, could try values for the hidden one until the hash is the same.
    """
    cells = tuple(None if at in hidden else cell for at, cell in enumerate(row.cells))
    shown = json.dumps([None if cell is None else str(cell) for cell in cells])
    digest = hashlib.blake2b(shown.encode(), digest_size=8).digest()
    return SampledRow(RowMark(row.mark.position, int.from_bytes(digest, "big")), cells)


def redact_batch(batch: pa.RecordBatch, hidden: Collection[int]) -> pa.RecordBatch:
    """Return rows in which hidden columns have no value."""
    if not hidden:
        return batch
    columns = [
        pa.nulls(batch.num_rows, column.type) if at in hidden else column
        for at, column in enumerate(batch.columns)
    ]
    return pa.record_batch(columns, names=batch.schema.names)


def redact_error(error: Exception, location: str) -> PneumaError:
    """Return an error that quotes no cell: the same one, if it does not."""
    chain = list(_chain(error))
    if isinstance(error, PneumaError) and not any(map(_may_quote, chain)):
        return error
    unquoted = (one.unquoted for one in chain if isinstance(one, PneumaError))
    kinds = dict.fromkeys(type(one).__name__ for one in chain if not isinstance(one, PneumaError))
    cause = next(
        filter(None, unquoted),
        f"the reader failed ({', '.join(kinds) or type(error).__name__}); {_LEFT_OUT}",
    )
    kind = type(error) if isinstance(error, TableReadError) else TableReadError
    return kind(f"{location} cannot be read: {cause}")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all that led to it; its words may repeat those of any."""
    found: BaseException | None = error
    seen: set[int] = set()
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or found.__context__


def _may_quote(error: BaseException) -> bool:
    """Tell whether an error is not by this project, nor one of the system with words of its own."""
    if isinstance(error, FileNotFoundError | PermissionError | EOFError):
        return False
    if isinstance(error, OSError):
        return error.errno is None
    raised_in = [frame.f_globals.get("__name__") for frame, _ in walk_tb(error.__traceback__)][-1:]
    ours = bool(raised_in) and str(raised_in[0]).startswith(_OURS)
    return not (isinstance(error, PneumaError) and ours)
