"""Descriptions of tables and columns: people's corrections, and texts that they add."""

import getpass
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.service.visible_tables import check_table, seen_tables
from pneuma_assets.core.tables import Description, Provenance, Table, source_of
from pneuma_assets.core.text.safe import one_line, printable
from pneuma_assets.core.text.suggest import check_known, check_text, nearest

if TYPE_CHECKING:
    from pneuma_assets.core.config.deployment import Deployment
    from pneuma_assets.core.store import Store
    from pneuma_assets.core.store.descriptions import Correction
    from pneuma_assets.core.store.documents import UserContext

MAX_TEXT = 1000
"""Characters of a correction: a sentence or two; more is a context (`add_context`)."""

MAX_AUTHOR = 100

NEW_COLUMN = "a new column is known after the next run"

UNNAMED = "hidden"
"""What a column is called that is not there, where rules hide names: it may be hidden by now."""


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """What is said of a column, or of a table.

    Attributes:
        table_id: The table.
        column: The column's name; None: the table itself; 'hidden' where it is not there and may be
            one whose name is hidden.
        text: What is said; empty where nothing is, so that the name stands in.
        by: Who says it: 'correction', 'person', 'document', 'model', 'profile'; empty where nobody
            does.
        source: The author, the document, the model.
        said_at: When, as ISO 8601 in UTC; None where that is not known.
        rejected_by: Who rejected what documents and machines say; None where nobody did.
        present: Whether the table has such a column now.
        pending: Whether only the next run finds what is said, as after a correction is taken back
            from a column that no person or document describes.
    """

    table_id: str
    column: str | None
    text: str
    by: str
    source: str
    said_at: str | None
    rejected_by: str | None = None
    present: bool = True
    pending: bool = False


def correct(
    store: "Store",
    table_id: str,
    column: str | None,
    text: str | None,
    author: str | None,
    readers: Sequence[str] | None = None,
) -> None:
    """Let people's words stand for a table or column; None only rejects what others say.

    Raises:
        ConfigError: There is no such table or column, or text or author cannot be kept.
        StateError: A server cannot keep such long names.
    """
    if text is not None:
        check_text("the text", text, ConfigError)
        if not text.strip():
            raise ConfigError("a description needs a text; to have none shown, reject what is said")
        if len(text.strip().splitlines()) > 1:
            raise ConfigError("a description is one line; to say more, add a context")
    check_table(store, table_id, readers)
    if column is not None:
        check_text("the column", column, ConfigError)
        table = next(iter(store.tables.profiles([table_id])), None)
        if table is None:
            raise ConfigError(f"{table_id} was not read yet; index it first")
        names = [one.name for one in table.columns]
        some = f"it has: {', '.join(names[:8])}{', …' if len(names) > 8 else ''}"
        check_column(table_id, column, names, some)
    said = "" if text is None else _line("the text", text, MAX_TEXT)
    store.correct(table_id, column, said, author_of(author))


def check_column(table_id: str, column: str, known: Collection[str], otherwise: str) -> None:
    """Raise `ConfigError`, with `otherwise` as the remedy, unless a table has a column."""
    within = f" of {table_id}"
    check_known(
        "column", [column], known, ConfigError,
        otherwise=otherwise, besides=NEW_COLUMN, within=within,
    )  # fmt: skip


def withdraw(
    store: "Store",
    deployment: "Deployment",
    table_id: str,
    column: str | None,
    readers: Sequence[str] | None = None,
) -> None:
    """Take back a correction or rejection; raises `ConfigError` where there is none."""
    _check_seen(store, table_id, readers)
    if column is not None:
        check_text("the column", column, ConfigError)
    if store.withdraw_correction(table_id, column):
        return
    told = [one for one in corrections_of(store, deployment) if one.table_id == table_id]
    if not told:
        check_table(store, table_id)
    there = ", ".join(sorted("the table" if c.column is None else repr(c.column) for c in told))
    what = table_id if column is None else f"{column!r} of {table_id}"
    near = f"; corrected are: {there[:300]}" if told else ""
    raise ConfigError(f"no correction or rejection of {what}{near}")


def descriptions_of(
    store: "Store", deployment: "Deployment", table_id: str, readers: Sequence[str] | None = None
) -> list[ColumnDescription]:
    """Return what is said of a table and then of each column, as the next run indexes it.

    Columns that are corrected and not there now stand last.

    Raises:
        ConfigError: There is no such table, and nobody has corrected one of that id.
    """
    from pneuma_assets.core.store.descriptions import table_description

    _check_seen(store, table_id, readers)
    corrections = store.descriptions.corrections([table_id])
    if not corrections:
        check_table(store, table_id)
    is_listed = store.tables.record(table_id) is not None
    table = next(iter(store.tables.profiles([table_id] if is_listed else [])), None)
    written = store.documents.beginnings([table_id]).get(table_id, ())
    comment, read = ("", ()) if table is None else (table.comment, table.columns)
    summary = store.narrations.summaries([table_id]).values()
    of_table = table_description(comment, [*written, *summary], corrections, lambda: read)
    own = next((one for one in corrections if one.column is None), None)
    found = [_described(table_id, None, own, of_table, present=is_listed)]
    said_of = {} if table is None else _said_of_columns(store, table)
    anew = _described_anew(store, table_id)
    for name, said in said_of.items():
        own = next((one for one in corrections if one.is_of(name)), None)
        pending = own is None and said is None and (anew is None or name in anew)
        found.append(replace(_described(table_id, name, own, said), pending=pending))
    return found + [
        _described(
            table_id, absent_column(deployment, table_id, one.column), one, None, present=False
        )
        for one in corrections
        if one.column is not None and not any(one.is_of(name) for name in said_of)
    ]


def corrections_of(
    store: "Store", deployment: "Deployment", readers: Sequence[str] | None = None
) -> list[ColumnDescription]:
    """Return all that people corrected or rejected.

    To who may see all, also of what is not there now.
    """
    corrections = store.descriptions.corrections()
    listed = {one.table_id for one in corrections} & seen_tables(store, readers)
    if readers is not None:
        corrections = [one for one in corrections if one.table_id in listed]
    tables = {table.table_id: table for table in store.tables.profiles(sorted(listed))}
    found = []
    for one in corrections:
        present, name = one.table_id in listed, one.column
        if name is not None:
            columns = tables[one.table_id].columns if one.table_id in tables else ()
            present = any(one.is_of(column.name) for column in columns)
            name = name if present else absent_column(deployment, one.table_id, name)
        found.append(_described(one.table_id, name, one, None, present=present))
    return found


def _described(
    table_id: str,
    column: str | None,
    correction: "Correction | None",
    said: Description | None,
    *,
    present: bool = True,
) -> ColumnDescription:
    rejected_by, at = None, None
    if correction is not None and correction.rejects:
        rejected_by, at = correction.author, correction.said_at
        said = said if said is not None and said.provenance == Provenance.PERSON else None
    elif correction is not None:
        said = correction.description
    by, text, source = "", "", ""
    if said is not None and said.text:
        by, text, source, at = str(said.provenance), said.text, said.source, said.said_at
    return ColumnDescription(
        table_id, column, text, by, source, moment(at), rejected_by, present=present
    )


def _described_anew(store: "Store", table_id: str) -> Collection[str] | None:
    """Return which columns the next run describes anew where nobody corrects them; None: all."""
    record = store.tables.record(table_id)
    if record is None or table_id not in store.queue.pending():
        return ()
    return None if record.indexed_at is None else store.narrations.corrected(table_id)


def _said_of_columns(store: "Store", table: Table) -> dict[str, Description | None]:
    """Return what others say of each column, None where only a run can tell.

    That is so where a correction stood when the table was indexed: what a model or the values say
    is then chosen by the next run.
    """
    from pneuma_assets.core.describe.columns import WRITTEN, added_descriptions

    indexed = store.narrations.of_tables([table.table_id])[table.table_id]
    read = store.descriptions.of_tables([table.table_id])[table.table_id]
    contexts = store.documents.user_contexts([table.table_id])[table.table_id]
    added = added_descriptions(table, [(one.name, one.text) for one in contexts])
    found: dict[str, Description | None] = {}
    for position, column in enumerate(table.columns):
        said = indexed.get(column.name)
        if said is None or said.provenance == Provenance.CORRECTION:
            written = read.get(position, {})
            said = added.get(position) or next((written[w] for w in WRITTEN if w in written), None)
        found[column.name] = said
    return found


def moment(at: float | None) -> str | None:
    """Return a time in seconds since 1970 as ISO 8601 in UTC; None for one that no calendar has.

    Sources tell times as files of strangers say them.
    """
    try:
        return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None


def _line(what: str, text: str, most: int) -> str:
    check_text(what, text, ConfigError)
    flat = "" if len(text) > 4 * most else one_line(text, most + 1)
    if len(text) > 4 * most or len(flat) > most:
        raise ConfigError(f"{what} has more than {most} characters, the most that are kept")
    if not printable(flat):
        raise ConfigError(f"{what} shows nothing; give one that does")
    return flat


def author_of(given: str | None) -> str:
    """Return who says something, a line that can be kept; None is who is logged in.

    Raises:
        ConfigError: It is no text, or too long.
    """
    if given is None:
        try:
            given = getpass.getuser()
        except (ImportError, KeyError, OSError):
            told = "nobody is logged in by a name; say who says it (--author)"
            raise ConfigError(told) from None
    return _line("the author", given, MAX_AUTHOR)


def _check_seen(store: "Store", table_id: str, readers: Sequence[str] | None) -> None:
    """Check a table's id; to who may see all, what is kept of one that is gone is told, too."""
    check_text("the table's id", table_id, ConfigError)
    if readers is not None:
        check_table(store, table_id, readers)


def add_context(
    store: "Store", table_id: str, name: str, text: str, readers: Sequence[str] | None = None
) -> None:
    """Add a text about a table, in the place of one of its name (`Workspace.add_context`)."""
    check_text("the name", name, ConfigError)
    check_text("the text", text, ConfigError)
    check_table(store, table_id, readers)
    store.add_context(table_id, name, text)


def remove_context(
    store: "Store", table_id: str, name: str, readers: Sequence[str] | None = None
) -> None:
    """Take back a text that was added to a table; raises `ConfigError` where there is none."""
    _check_seen(store, table_id, readers)
    check_text("the name", name, ConfigError)
    if store.remove_context(table_id, name):
        return
    names = [context.name for context in contexts_of(store, table_id)]
    near = f"; it has: {', '.join(nearest(name, names) or names[:5])}" if names else ""
    raise ConfigError(f"{table_id} has no added text '{name}'{near}")


def contexts_of(
    store: "Store", table_id: str, readers: Sequence[str] | None = None
) -> "list[UserContext]":
    """Return what was added to a table, ordered by name; also of a table that is gone."""
    _check_seen(store, table_id, readers)
    found = store.documents.user_contexts([table_id])[table_id]
    if not found:
        check_table(store, table_id)
    return found


def hides_names(deployment: "Deployment", table_id: str) -> bool:
    """Tell whether the names of a table's hidden columns are not shown."""
    rules = {source.name: source.privacy.hide_names for source in deployment.sources}
    of_others = deployment.privacy.hide_names or any(rules.values())
    return rules.get(source_of(table_id), of_others)


def absent_column(deployment: "Deployment", table_id: str, column: str) -> str:
    """Return what a column is called that is not there now."""
    return UNNAMED if hides_names(deployment, table_id) else column
