"""Search as people type, and browsing without a question."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.missing_parts import MissingPart
from pneuma_assets.core.search.confidence import count_likely, is_unlikely
from pneuma_assets.core.service.catalog_types import FacetCounts, Facets
from pneuma_assets.core.service.status import how_to_index
from pneuma_assets.web.pages.page import Page, ThePage
from pneuma_assets.web.pages.rendering import counted
from pneuma_assets.web.pool import PooledRoute
from pneuma_assets.web.problems import problem_of

_TITLES = {"source": "Source", "schema": "Schema or folder", "format": "Kind", "owner": "Owner"}
_AGES = {"1": "Within a day", "7": "Within a week", "30": "Within a month", "365": "Within a year"}
_MOST = 8
"""Values of a facet that are shown at once, but for those that are chosen."""
_MOST_MORE = 500
"""Values beyond these that can be opened: some 200 bytes each."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value with the number of its tables."""

    value: str
    label: str
    tables: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class Facet:
    """A facet: the values that are shown, the rest, which can be opened, and how many are left."""

    key: str
    title: str
    input: str
    shown: tuple[Value, ...]
    rest: tuple[Value, ...] = ()
    more: int = 0


def facets_of(counts: FacetCounts, chosen: Mapping[str, Collection[str]]) -> list[Facet]:
    """Return the facets by which tables can be told apart, or are already.

    Args:
        counts: Of each facet.
        chosen: Of each facet the values that are wanted; those of `within` are days.
    """
    if not any(one.tables for values in counts.values() for one in values) and not any(
        chosen.values()
    ):
        return []
    found = {key: {one.value: one.tables for one in values} for key, values in counts.items()}
    named = [_named(key, found.get(key, {}), chosen[key]) for key in _TITLES]
    return [
        *(one for one in named if one.shown),
        _ages(found.get("freshness", {}), chosen["within"]),
    ]


def _named(key: str, found: Mapping[str, int], chosen: Collection[str]) -> Facet:
    names = list(dict.fromkeys([*chosen, *found])) if len(found) > 1 or chosen else []
    first, last = _MOST + len(chosen), _MOST + len(chosen) + _MOST_MORE
    values = [Value(one, one or "none", found.get(one, 0), one in chosen) for one in names[:last]]
    shown, rest = values[:first], sorted(values[first:], key=lambda one: one.label.casefold())
    more = len(names) - len(values)
    return Facet(key, _TITLES[key], "checkbox", tuple(shown), tuple(rest), more)


def _ages(found: Mapping[str, int], chosen: Collection[str]) -> Facet:
    every = sum(found.get(one, 0) for one in ("365", "older", "unknown"))
    shown = [Value(one, name, found.get(one, 0), one in chosen) for one, name in _AGES.items()]
    return Facet("within", "Updated", "radio", (*shown, Value("", "Any time", every, not chosen)))


router = APIRouter(include_in_schema=False, route_class=PooledRoute)

PAGE = 30
"""Tables of a page of a list."""
FOUND = 20
"""Most tables that a question finds."""

TABS = (
    ("tables", "Tables"),
    ("columns", "Columns"),
    ("groups", "Tables together"),
    ("answer", "Answer"),
)
ORDERS = (
    ("name", "Name"),
    ("updated", "Last updated"),
    ("rows", "Most rows"),
)


Values = Annotated[list[Annotated[str, Field(max_length=1000)]], Field(max_length=50)]


class Search(BaseModel):
    """What the address of a search says."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    q: str = Field("", max_length=10_000)
    tab: Literal["tables", "columns", "groups", "answer"] = "tables"
    source: Values = []
    schema_: Values = Field([], alias="schema")
    format: Values = []
    owner: Values = []
    within: Literal["", "1", "7", "30", "365"] = ""
    sort: Literal["name", "updated", "rows"] = "name"
    page: int = Field(1, ge=1, le=100_000)
    words: bool = False
    asked: bool = False
    typed: bool = False

    @property
    def question(self) -> str:
        """The question, without blanks around it."""
        return self.q.strip()

    @property
    def filtered(self) -> bool:
        """Whether only some tables are wanted."""
        return self.facets() != Facets()

    def facets(self) -> Facets:
        """Return which tables are wanted."""
        days = int(self.within) if self.within else None
        return Facets(
            tuple(self.source), tuple(self.schema_), tuple(self.format), tuple(self.owner), days
        )

    def url(self, **changes: object) -> str:
        """Return the address of this search, with some of it changed."""
        given = self.model_dump(by_alias=True, exclude_defaults=True) | changes
        given = {
            key: one
            for key, one in given.items()
            if one and key not in ("words", "asked", "typed") and (key, one) != ("page", 1)
        }
        if given.get("tab") == "answer":
            return f"/answer?{urlencode({'q': self.q})}"
        return f"/?{urlencode(given, doseq=True)}" if given else "/"

    def cleared(self) -> str:
        """Return the address of this search without filters."""
        return self.url(source=[], schema=[], format=[], owner=[], within="", page=1)

    @property
    def chosen(self) -> dict[str, list[str]]:
        """The values of each facet that are wanted."""
        within: list[str] = [self.within] if self.within else []
        named = {"source": self.source, "schema": self.schema_, "format": self.format}
        return {**named, "owner": self.owner, "within": within}


SearchQuery = Annotated[Search, Query()]


@router.get("/", response_class=HTMLResponse)
def search_page(page: ThePage, form: SearchQuery) -> Response:
    """Show what was asked for, or all tables."""
    if form.tab == "answer" and form.question:
        return RedirectResponse(form.url(), 303)
    found = _found(page, form)
    return _noted(page, form, found, page.render("search.html", **found))


@router.get("/results", response_class=HTMLResponse)
def results(page: ThePage, form: SearchQuery) -> Response:
    """Return the part of the page that changes while somebody types."""
    found = _found(page, form)
    response = page.render("results.html", **found)
    return _noted(page, form, found, response) if form.asked else response


@router.get("/suggestions", response_class=HTMLResponse)
def suggestions(page: ThePage, q: Annotated[str, Query(max_length=200)] = "") -> HTMLResponse:
    """Return what somebody who types may mean, as options of a list."""
    found = page.desk.suggest(q, readers=page.asker.readers) if len(q.strip()) >= 2 else []
    return page.render("suggestions.html", suggestions=found)


def _noted(page: Page, form: Search, found: Mapping[str, Any], response: Response) -> Response:
    """Note what came of a question; to open a table of the results settles one that failed."""
    if form.question and form.tab == "tables" and not found["problem"]:
        is_refused = found["unlikely"] or not found["hits"]
        page.note_later(response, form.question, "refused" if is_refused else "answered")
    return response


def _found(page: Page, form: Search) -> dict[str, Any]:
    """Return what the templates of a search show."""
    shown: dict[str, Any] = {
        "form": form, "question": form.question, "tabs": TABS, "orders": ORDERS,
        "body": f"{form.tab}.html", "note": "", "problem": None, "missing": (), "confirmed": (),
        "hits": (), "columns": (), "groups": (), "listing": None, "facets": (),
        "unlikely": False, "confidence": None, "is_empty": False, "cut": None,
        "how_to_index": how_to_index(page.desk.loaded, on_page=True),
    }  # fmt: skip
    try:
        return shown | (_LOOKS[form.tab] if form.question else _browsed)(page, form)
    except QueryError as error:
        return shown | _refused(page, form, error)


def _browsed(page: Page, form: Search) -> dict[str, Any]:
    """Return all tables that the filters leave, a page of them."""
    listing = page.desk.browse(
        facets=form.facets(),
        sort=form.sort,
        offset=PAGE * (form.page - 1),
        limit=PAGE,
        readers=page.asker.readers,
    )
    return {
        "body": "tables.html",
        "listing": listing,
        "facets": facets_of(listing.facets, form.chosen),
        "heading": counted(listing.total, "table") if listing.total else "No tables",
    }


def _tables(page: Page, form: Search) -> dict[str, Any]:
    answer = page.desk.search(
        form.question,
        k=FOUND,
        facets=form.facets(),
        where=page.where,
        words_only=form.words,
        judge=False if form.typed else None,  # it takes seconds, and money
        author=page.asker.name,
    )
    least = page.desk.loaded.deployment.query.min_confidence
    return {
        "hits": answer.hits,
        "cut": count_likely((hit.result for hit in answer.hits), least),
        "least": least,
        "columns": answer.columns,
        "facets": facets_of(answer.facets, form.chosen),
        "missing": answer.missing,
        "confirmed": answer.confirmed,
        "unlikely": answer.unlikely,
        "confidence": answer.confidence,
        "heading": f"Nearest {len(answer.hits)} of {counted(answer.total, 'table')}",
        "note": "By words; meaning follows" if form.words else f"in {answer.seconds * 1000:.0f} ms",
    }


def _columns(page: Page, form: Search) -> dict[str, Any]:
    found = _tables(page, form)
    return found | {"heading": f"Columns with words of the question: {len(found['columns'])}"}


def _groups(page: Page, form: Search) -> dict[str, Any]:
    missing: list[MissingPart] = []
    groups = page.desk.find_groups(form.question, k=10, where=page.where, missing=missing)
    sure = groups[0].answerable if groups else None
    return {
        "groups": groups,
        "missing": missing,
        "unlikely": is_unlikely(sure, page.desk.loaded.deployment.query.min_confidence),
        "confidence": sure,
        "heading": counted(len(groups), "set") + " of tables",
    }


_LOOKS: Mapping[str, Callable[[Page, Search], dict[str, Any]]] = {
    "tables": _tables,
    "columns": _columns,
    "groups": _groups,
}


def _refused(page: Page, form: Search, error: QueryError) -> dict[str, Any]:
    """Return what is shown where nothing can be looked for so, with the facets of all tables."""
    listing = page.desk.browse(limit=1, readers=page.asker.readers)
    return {
        "body": "tables.html",
        "is_empty": not listing.total,
        "problem": problem_of(error),
        "facets": facets_of(listing.facets, form.chosen),
        "heading": "Nothing found",
    }
