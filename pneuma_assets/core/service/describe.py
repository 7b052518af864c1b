"""Descriptions of tables and columns: people's corrections, and texts that they add."""

import getpass
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pneuma_assets.core.describe.columns import WRITTEN, added_descriptions
from pneuma_assets.core.errors import ConfigError
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

NEW_COLUMN = "a new column is known after the next: pneuma-assets index"

UNNAMED = "hidden"

HidesNames = Callable[[str], bool]
"""Tells of a table's id whether the names of its hidden columns are not shown."""


_NOTHING = Description("", Provenance.PERSON, "")


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
    store: "Store", table_id: str, column: str | None, text: str, author: str | None
) -> None:
    """Let people's words stand for a table or column; an empty text only rejects others'.

    Raises:
        ConfigError: There is no such table or column, or text or author cannot be kept.
        StateError: A server cannot keep such long names.
    """
    check_table(store, table_id)
    if column is not None:
        _check_column(store, table_id, column)
    said = _line("the text", text, MAX_TEXT) if text else ""
    store.correct(table_id, column, said, author_of(author))


def text_of(given: str) -> str:
    """Return the text of a description; raises `ConfigError` for none."""
    check_text("the text", given, ConfigError)
    if not given.strip():
        raise ConfigError("a description needs a text; to have none shown, reject what is said")
    if len(given.strip().splitlines()) > 1:
        raise ConfigError("a description is one line; to say more, add a context")
    return given


def withdraw(store: "Store", table_id: str, column: str | None, hides_names: HidesNames) -> None:
    """Take back a correction or rejection, also of what is not there any more.

    Raises:
        ConfigError: There is none.
    """
    check_text("the table's id", table_id, ConfigError)
    if column is not None:
        check_text("the column", column, ConfigError)
    if store.withdraw_correction(table_id, column):
        return
    own = store.descriptions.corrections([table_id])
    if not own:
        check_table(store, table_id)
    told = [one for one in corrections_of(store, hides_names) if one.table_id == table_id]
    there = ", ".join(sorted("the table" if c.column is None else repr(c.column) for c in told))
    what = table_id if column is None else f"{column!r} of {table_id}"
    near = f"; corrected are: {there[:300]}" if own else ""
    raise ConfigError(f"no correction or rejection of {what}{near}")


def descriptions_of(
    store: "Store", table_id: str, hides_names: HidesNames
) -> list[ColumnDescription]:
    """Return what is said of a table and then of each column, as the next run indexes it.

    Columns that are corrected and not there now stand last.

    Raises:
        ConfigError: There is no such table, and nobody has corrected one of that id.
    """
    from pneuma_assets.core.store.descriptions import table_description

    check_text("the table's id", table_id, ConfigError)
    corrections = store.descriptions.corrections([table_id])
    if not corrections:
        check_table(store, table_id)
    listed = table_id in store.tables.known()
    table = next(iter(store.tables.profiles([table_id] if listed else [])), None)
    own = next((one for one in corrections if one.column is None), None)
    comment = table.comment if table is not None else ""
    written = store.documents.beginnings([table_id]).get(table_id, ())
    read = table.columns if table is not None else ()
    of_table = table_description(comment, written, corrections, lambda: read)
    found = [_described(table_id, None, own, of_table, present=listed)]
    columns = {} if table is None else _said_of_columns(store, table)
    waits = table_id in store.queue.pending()
    for name, said in columns.items():
        one = next((one for one in corrections if one.is_of(name)), None)
        shown = _described(table_id, name, one, said)
        found.append(replace(shown, pending=waits and one is None and said is None))
    left = [one for one in corrections if not any(one.is_of(name) for name in columns)]
    found += [
        _described(table_id, name_of_absent(one, hides_names), one, None, present=False)
        for one in left
        if one.column is not None
    ]
    return found


def corrections_of(store: "Store", hides_names: HidesNames) -> list[ColumnDescription]:
    """Return all that people corrected or rejected, also of what is not there now."""
    corrections = store.descriptions.corrections()
    listed = set(store.tables.listed())
    ids = sorted({one.table_id for one in corrections} & listed)
    tables = {table.table_id: table for table in store.tables.profiles(ids)}
    found = []
    for one in corrections:
        present = one.table_id in listed
        if present and one.column is not None:
            table = tables.get(one.table_id)
            present = table is not None and any(one.is_of(c.name) for c in table.columns)
        name = one.column if present else name_of_absent(one, hides_names)
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
    if said is None or not said.text:
        said = _NOTHING
    return ColumnDescription(
        table_id,
        column,
        said.text,
        str(said.provenance) if said.text else "",
        said.source,
        _date(said.said_at if said.text else at),
        rejected_by,
        present=present,
    )


def _said_of_columns(store: "Store", table: Table) -> dict[str, Description | None]:
    """Return what others say of each column, None where only a run can tell.

    That is so where a correction stood when the table was indexed: what a model or the values say
    is then chosen by the next run.
    """
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


def _date(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _check_column(store: "Store", table_id: str, column: str) -> None:
    check_text("the column", column, ConfigError)
    table = next(iter(store.tables.profiles([table_id])), None)
    if table is None:
        raise ConfigError(f"{table_id} was not read yet; run: pneuma-assets index")
    names = [one.name for one in table.columns]
    check_known(
        f"column of {table_id}",
        [column],
        names,
        ConfigError,
        otherwise=_some(names),
        besides=NEW_COLUMN,
    )


def _some(names: Sequence[str]) -> str:
    return f"it has: {', '.join(names[:8])}{', …' if len(names) > 8 else ''}"


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
    return _line("the author", _author(given), MAX_AUTHOR)


def _author(given: str | None) -> str:
    if given is not None:
        return given
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        raise ConfigError("nobody is logged in by a name; say who says it (--author)") from None


def add_context(store: "Store", table_id: str, name: str, text: str) -> None:
    """Add a text about a table; searchable after the next run, and replaced by one of its name.

    Raises:
        ConfigError: There is no such table, or name or text is no text.
        StateError: Name or text is empty, or the text too long.
    """
    check_text("the name", name, ConfigError)
    check_text("the text", text, ConfigError)
    check_table(store, table_id)
    store.add_context(table_id, name, text)


def remove_context(store: "Store", table_id: str, name: str) -> None:
    """Take back a text that was added to a table.

    Raises:
        ConfigError: There is no such table, or it has no text of that name.
    """
    check_text("the table's id", table_id, ConfigError)
    check_text("the name", name, ConfigError)
    if store.remove_context(table_id, name):
        return
    names = [context.name for context in contexts_of(store, table_id)]
    near = f"; it has: {', '.join(nearest(name, names) or names[:5])}" if names else ""
    raise ConfigError(f"{table_id} has no added text '{name}'{near}")


def contexts_of(store: "Store", table_id: str) -> "list[UserContext]":
    """Return what was added to a table, ordered by name; also of a table that is gone.

    Raises:
        ConfigError: Nothing was added, and there is no such table.
    """
    check_text("the table's id", table_id, ConfigError)
    found = store.documents.user_contexts([table_id])[table_id]
    if not found:
        check_table(store, table_id)
    return found


def check_table(store: "Store", table_id: str) -> None:
    """Raise `ConfigError`, with the nearest ids, where there is no such table."""
    check_text("the table's id", table_id, ConfigError)
    check_known("table", [table_id], store.tables.listed(), ConfigError)


def names_hidden(deployment: "Deployment") -> HidesNames:
    """Return what tells of which tables the names of hidden columns are not shown."""
    rules = {source.name: source.privacy.hide_names for source in deployment.sources}
    of_others = deployment.privacy.hide_names or any(rules.values())
    return lambda table_id: rules.get(source_of(table_id), of_others)


def name_of_absent(correction: "Correction", hides_names: HidesNames) -> str | None:
    """Return what a corrected column that is not there is called: it may be hidden by now."""
    if correction.column is None:
        return None
    return absent_column(correction.table_id, correction.column, hides_names)


def absent_column(table_id: str, column: str, hides_names: HidesNames) -> str:
    """Return what a column that is not there is called: it may be hidden by now."""
    return UNNAMED if hides_names(table_id) else column
