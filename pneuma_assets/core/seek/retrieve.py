"""What a conversation retrieves: tables, what people said before, pages of the web (section 3.3).

All of it is of one type, so that another kind changes nothing else. What an event keeps of a
table or a statement is its id alone: what is shown of it is read anew for each prompt, under the
rights that hold then.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any
from urllib.parse import urlencode

from pneuma_assets.core.asking_http import ask
from pneuma_assets.core.errors import QueryError, SourceError
from pneuma_assets.core.store.knowledge import Statement
from pneuma_assets.core.text.analysis import Analyzer

MOST_FOUND = 8
"""Documents that one search gives."""
_WEB_SECONDS = 20.0
_WEB_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Document:
    """Something that was retrieved.

    Attributes:
        kind: `table`, `knowledge` or `web`.
        id: A table's id, a statement's, or an address.
        title: One line; empty where the id says it.
        text: Of a page of the web what was said of it; empty where it is read anew by its id.
        tables: Of a table that stands for a family all members, newest first, else itself alone.
    """

    kind: str
    id: str
    title: str = ""
    text: str = ""
    tables: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as an event keeps it."""
        kept = {"kind": self.kind, "id": self.id, "title": self.title, "text": self.text}
        return {name: value for name, value in kept.items() if value} | (
            {"tables": list(self.tables)} if self.tables else {}
        )


def search_knowledge(
    query: str, statements: Sequence[Statement], analyzer: Analyzer
) -> list[Document]:
    """Return what people said in conversations that shares words with a query, best first.

    The rarer a word, the more it counts.
    """
    words = {one.knowledge_id: set(analyzer.terms(one.text)) for one in statements}
    asked = set(analyzer.question_terms(query))
    told = {word: sum(word in some for some in words.values()) for word in asked}
    weight = {word: log(1 + len(words) / times) for word, times in told.items() if times}
    scores = {i: sum(weight.get(word, 0.0) for word in some) for i, some in words.items()}
    ranked = sorted((i for i in scores if scores[i] > 0), key=lambda i: (-scores[i], i))
    return [Document("knowledge", i) for i in ranked[:MOST_FOUND]]


def search_web(
    query: str, url: str | None, token: str | None, said: Sequence[str]
) -> list[Document]:
    """Return pages of the web by a SearXNG server, asked in words alone that the person used.

    What a table holds never leaves by a query, whatever a model was talked into: of what it wants
    to ask, words that no message of the person has are left out.

    Args:
        query: What a model wants to ask.
        url: Base address of the server; None: the web is not searched.
        token: A bearer token for it, if it needs one.
        said: The person's messages.

    Raises:
        QueryError: The web is not searched here, or no word is the person's own.
        SourceError: The server does not answer.
    """
    if url is None:
        raise QueryError("the web is not searched here; name a server in seek.web")
    known = {word for text in said for word in _words(text)}
    asked = [word for word in _words(query) if word in known]
    if not asked:
        raise QueryError("the web is asked in the person's own words alone; none is among these")
    target = urlencode({"q": " ".join(asked)[:300], "format": "json"})
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    where = f"{url.rstrip('/')}/search?{target}"
    try:
        data = ask(where, headers, seconds=_WEB_SECONDS, most_bytes=_WEB_BYTES)
        return [_page(one) for one in json.loads(data)["results"][:MOST_FOUND]]
    except OSError as error:
        raise SourceError(f"the web cannot be searched ({error}); see to seek.web") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(
            "the server of seek.web answers no JSON of SearXNG; enable its format json"
        ) from error


def _words(text: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text.casefold()).split()


def _page(found: Mapping[str, Any]) -> Document:
    address, title, text = (str(found.get(one) or "") for one in ("url", "title", "content"))
    return Document("web", address[:500], title[:200], text[:1_000])


def alias(documents: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return documents by short names, in the order in which they were found: t1, k1, w1."""
    found: dict[str, Mapping[str, Any]] = {}
    counts: dict[str, int] = {}
    for one in documents:
        kind = str(one["kind"])
        counts[kind] = counts.get(kind, 0) + 1
        found[f"{kind[0]}{counts[kind]}"] = one
    return found
