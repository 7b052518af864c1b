"""Templates of the pages: everything from outside is escaped, and shown as what it is."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from pneuma_assets.core.text.safe import well_formed
from pneuma_assets.web.pages.drawings import histogram, shares

if TYPE_CHECKING:
    from pneuma_assets.core.relations.families import Family
    from pneuma_assets.core.relations.rank_groups import GroupResult

FOLDER = Path(__file__).parents[1] / "templates"

_DISGUISING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""Characters that cannot be shown, or change the direction of what is shown."""

_AGES = (
    (31_536_000, "year"),
    (2_592_000, "month"),
    (86_400, "day"),
    (3_600, "hour"),
    (60, "minute"),
)
SAID_BY = {
    "correction": "corrected by",
    "person": "said by",
    "document": "from a document",
    "model": "written by the model",
    "profile": "from its name and values",
}
JOIN_KINDS = {
    "person": "confirmed by a person",
    "declared": "a foreign key of the source",
    "view": "a view joins them so",
    "inferred": "guessed from names and values",
    "domain": "the same domain of values, no key",
}


@cache
def environment() -> Environment:
    """Return the templates; whatever they print is escaped."""
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    filters = (
        *(ago, anchor, counted, exact, family_line, group_sql, histogram),
        *(number, percent, segments, shares, table_sql, table_url, unchanged),
    )
    made.filters |= {one.__name__: one for one in filters}
    made.globals |= {"said_by": SAID_BY, "join_kinds": JOIN_KINDS}
    return made


def render(name: str, context: Mapping[str, Any]) -> str:
    """Return a template filled in."""
    return environment().get_template(name).render(context)


def shown(value: Any) -> Any:
    """Return what stands for a value on a page: signs that could disguise a text become visible."""
    if isinstance(value, bool):
        return str(value).lower()  # as files have it
    if isinstance(value, str) and not isinstance(value, Markup):
        return _DISGUISING.sub("\ufffd", value)
    return value


def unchanged(value: str) -> Markup:
    """Return a text escaped and otherwise as it is, for the value of a form's field."""
    return escape(well_formed(value))


def escaped_signs(json_text: str) -> str:
    """Return JSON in which signs that could disguise a text stand as escapes, to be edited."""
    return _DISGUISING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", json_text)


def segments(text: str, marks: Iterable[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text in order, and whether each is within one of the marks."""
    end = 0
    for start, stop in marks:
        if start > end:
            yield text[end:start], False
        yield text[start:stop], True
        end = stop
    yield text[end:], False


def number(value: float) -> str:
    """Return a number with its thousands parted, without needless decimals."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def percent(share: float) -> str:
    """Return a share from 0 to 1 as a whole number of percent; never 0 for what is there."""
    if 0 < share < 0.01:
        return "under 1 %"
    return f"{min(share, 0.99) if share < 1 else 1:.0%}".replace("%", " %")


def counted(count: int, one: str) -> str:
    """Return a number and what is counted."""
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def ago(at: str) -> str:
    """Return how long ago a time (ISO 8601) was, in words."""
    seconds = (datetime.now(UTC) - _time(at)).total_seconds()
    for length, name in _AGES:
        if seconds >= length:
            return f"{counted(int(seconds // length), name)} ago"
    return "just now" if seconds > -60 else exact(at)


def exact(at: str) -> str:
    """Return a time (ISO 8601) to the minute, in UTC."""
    return f"{_time(at):%Y-%m-%d %H:%M} UTC"


def seconds_of(at: str) -> float:
    """Return a time (ISO 8601) in seconds since 1970."""
    return _time(at).timestamp()


def _time(at: str) -> datetime:
    time = datetime.fromisoformat(at)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def anchor(name: str) -> str:
    """Return what names a column in an address, and is the id of its place on the page."""
    return quote(well_formed(name), safe="").replace("%", "~")


def table_url(table_id: str, question: str = "") -> str:
    """Return the address of a table's page, which marks what a question says."""
    path = f"/tables/{quote(well_formed(table_id), safe='/')}"
    return f"{path}?{urlencode({'q': well_formed(question)})}" if question else path


def family_line(family: "Family") -> str:
    """Return a family of tables in a few words."""
    absent = f"; none is of {', '.join(family.absent)}" if family.absent else ""
    tables = counted(family.tables, "table")
    return f"{tables} called {family.name}, {family.first} to {family.last}{absent}"


def group_sql(group: "GroupResult", names: Mapping[str, str]) -> str:
    """Return a statement that joins a set of tables, by their names, as far as joins are known."""
    called = {table: _quoted(names[table]) for table in group.tables}
    said, lines = {group.joins[0].table}, [f"SELECT *\nFROM {called[group.joins[0].table]}"]
    for join in group.joins:
        new = join.other if join.table in said else join.table
        if new in said:
            continue
        said.add(new)
        pairs = zip(join.columns, join.other_columns, strict=True)
        on = " AND ".join(
            f"{called[join.table]}.{_quoted(mine)} = {called[join.other]}.{_quoted(theirs)}"
            for mine, theirs in pairs
        )
        lines.append(f"JOIN {called[new]} ON {on}")
    return "\n".join(lines)


def table_sql(name: str) -> str:
    """Return a statement that reads some rows of a table that is called so."""
    return f"SELECT *\nFROM {_quoted(name)}\nLIMIT 20"


def _quoted(name: str) -> str:
    own = name.replace('"', '""')
    return f'"{own}"'
