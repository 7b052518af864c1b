"""What a conversation retrieves: tables, what people said before, pages of the web (section 3.3).

All of it is of one type, so that another kind changes nothing else. What an event keeps of a
table or a statement is its id alone: what is shown of it is read anew for each prompt, under the
rights that hold then.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np

from pneuma_assets.core.asking_http import ask
from pneuma_assets.core.dictionaries.text import document_text
from pneuma_assets.core.errors import QueryError, SourceError
from pneuma_assets.core.store.knowledge import Statement
from pneuma_assets.core.tables import Vector
from pneuma_assets.core.text.analysis import Analyzer

MOST_FOUND = 8
"""Documents that one search gives."""
_WEB_SECONDS = 20.0
_WEB_BYTES = 2_000_000
MOST_OF_PAGE = 10_000
"""Characters of a page that was read."""
_LONGEST_ADDRESS = 500
_NEAR, _LEAST_NEAR = 0.5, 0.3
"""Of the score of the best statement, and of the greatest, from which on one that shares no word
is found, too."""


@dataclass(frozen=True, slots=True)
class Document:
    """Something that was retrieved.

    Attributes:
        kind: `table`, `knowledge` or `web`.
        id: A table's id, a statement's, or an address.
        title: One line; empty where the id says it.
        text: Of a page of the web what was said of it; empty where it is read anew by its id.
        tables: Of a table that stands for a family all members, newest first, else itself alone.
        confidence: The probability that a table answers; None where nobody knows.
        passage: Of a table what has most to do with the query, which may repeat cells.
    """

    kind: str
    id: str
    title: str = ""
    text: str = ""
    tables: tuple[str, ...] = ()
    confidence: float | None = None
    passage: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as the data of an event keep it, without what may repeat cells."""
        kept: dict[str, Any] = {"kind": self.kind, "id": self.id, "title": self.title}
        kept |= {"text": self.text, "tables": [*self.tables], "confidence": self.confidence}
        return {name: value for name, value in kept.items() if value}


def search_knowledge(
    query: str,
    statements: Sequence[Statement],
    analyzer: Analyzer,
    vectors: Callable[[Sequence[str]], Vector] | None = None,
) -> list[Document]:
    """Return what people said in conversations that is near a query, best first.

    By the share of the query's words, the rarer the more, and by meaning.

    Args:
        query: What a model wants to know.
        statements: What the person may read.
        analyzer: How texts become words.
        vectors: Returns embeddings, the query's first; None: words alone are compared.
    """
    if not statements:
        return []
    words = {one.knowledge_id: set(analyzer.terms(one.text)) for one in statements}
    asked = set(analyzer.question_terms(query))
    told = {word: sum(word in some for some in words.values()) for word in asked}
    weight = {word: log(1 + len(words) / times) for word, times in told.items() if times}
    whole = sum(weight.values()) or 1.0
    shares = {i: sum(weight.get(word, 0.0) for word in some) / whole for i, some in words.items()}
    scores = dict(shares)
    if vectors is not None:
        own, *others = vectors([query, *(one.text for one in statements)])
        for one, near in zip(statements, np.asarray(others) @ own, strict=True):
            scores[one.knowledge_id] += max(0.0, float(near))
    least = max(_NEAR * max(scores.values()), _LEAST_NEAR)
    kept = [i for i in scores if shares[i] > 0 or scores[i] >= least]
    ranked = sorted(kept, key=lambda i: (-scores[i], i))
    return [Document("knowledge", i) for i in ranked[:MOST_FOUND]]


def search_web(
    query: str, url: str | None, token: str | None, said: Sequence[str], analyzer: Analyzer
) -> tuple[str, list[Document]]:
    """Return what was asked, and pages of the web by a SearXNG server.

    What a table holds never leaves by a query, whatever a model was talked into: of what it wants
    to ask, words that no message of the person has, in any form, are left out.

    Args:
        query: What a model wants to ask.
        url: Base address of the server; None: the web is not searched.
        token: A bearer token for it, if it needs one.
        said: The person's messages.
        analyzer: Takes words to their stems.

    Raises:
        QueryError: The web is not searched here, or no word is the person's own.
        SourceError: The server does not answer.
    """
    if url is None:
        raise QueryError("the web is not searched here; name a server in seek.web")
    known = {
        form for text in said for word in _words(text) for form in (word, *analyzer.terms(word))
    }
    words = [word for word in _words(query) if known & {word, *analyzer.terms(word)}]
    if not (asked := " ".join(words)[:300]):
        raise QueryError("the web is asked in the person's own words alone; none is among these")
    target = urlencode({"q": asked, "format": "json"})
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    where = f"{url.rstrip('/')}/search?{target}"
    try:
        data = ask(where, headers, seconds=_WEB_SECONDS, most_bytes=_WEB_BYTES)
        pages = [_page(one) for one in json.loads(data)["results"]]
        return asked, [one for one in pages if len(one.id) <= _LONGEST_ADDRESS][:MOST_FOUND]
    except OSError as error:
        raise SourceError(f"the web cannot be searched ({error}); see to seek.web") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(
            "the server of seek.web answers no JSON of SearXNG; enable its format json"
        ) from error


def fetch_page(found: Mapping[str, Any]) -> Document:
    """Return a page of the web that a search found, as a document with its address.

    Raises:
        SourceError: It cannot be read, or is at no public address: a search result must not make
            this machine ask its own network.
    """
    address = str(found["id"])
    if urlsplit(address).scheme not in ("http", "https"):
        raise SourceError(f"{address[:200]} is no page of the web")
    try:
        data = ask(address, {}, seconds=_WEB_SECONDS, most_bytes=_WEB_BYTES, public=True)
        text = document_text("page.html", data)
    except (OSError, ValueError, RecursionError) as error:
        raise SourceError(f"the page {address[:200]} cannot be read: {error}") from error
    return Document("web", address, str(found.get("title", "")), text[:MOST_OF_PAGE])


def _words(text: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text.casefold()).split()


def _page(found: Mapping[str, Any]) -> Document:
    address, title, text = (str(found.get(one) or "") for one in ("url", "title", "content"))
    return Document("web", address, title[:200], text[:1_000])


def alias(documents: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return documents by short names, in the order in which they were found: t1, k1, w1."""
    found: dict[str, Mapping[str, Any]] = {}
    counts: dict[str, int] = {}
    for one in documents:
        kind = str(one["kind"])
        counts[kind] = counts.get(kind, 0) + 1
        found[f"{kind[0]}{counts[kind]}"] = one
    return found
