"""Four kinds of questions about a table, each made of something else that is known of it."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from pneuma_assets.core.measure.mine.candidates import Asking, Candidate
from pneuma_assets.core.measure.mine.traits import (
    Traits,
    folded,
    in_plain_words,
    parts_of,
    words_in,
)
from pneuma_assets.core.text.clean import one_line
from pneuma_assets.core.text.sentences import sentence_ends
from pneuma_assets.core.text.stop_words import ENGLISH_STOP_WORDS, QUESTION_STOP_WORDS

LONGEST = 300
"""Characters of a question."""
MOST_WORDS = 8
"""Words of a description that a question repeats, or of a sentence."""
_FEWEST_WORDS = 4
"""Words that a sentence must leave, to be told from others."""
_SHORTEST, _LONGEST_CELL, _CELL_WORDS = 3, 40, 6
"""Characters and words of a cell that a person would type."""
_COLUMNS = (2, 3)
_SLIPPED = 6
"""Letters of a name from which on a slip leaves it recognisable."""

_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;:(\[\n]")
_TOLD = re.compile(r"[^\W\d_]{3,}")
"""A word that says something: three letters."""
_WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")


def about_name(asking: Asking, chance: Random) -> Candidate | None:
    """Ask for a table by its own name: in words, abbreviations spelt out, or typed with a slip."""
    name = asking.known.names[-1] if asking.known.names else ""
    words = in_plain_words(name)
    if not _TOLD.search(words):
        return None
    needs = Traits(names=parts_of([name]) - ENGLISH_STOP_WORDS)
    if len(name) < _SLIPPED:
        return _candidate(asking, "name", f"What is there about {words}?", needs)
    return _candidate(asking, "name", one_line(_with_slip(name, chance)), needs, slip=True)


def about_columns(asking: Asking, chance: Random) -> Candidate | None:
    """Ask for a table by two or three of its columns, as people call or describe them."""
    called = {name: _called(name, asking.described.get(name, "")) for name in asking.known.columns}
    usable = [name for name, said in called.items() if _TOLD.search(said)]
    if len(usable) < _COLUMNS[0]:
        return None
    wanted = min(chance.choice(_COLUMNS), len(usable))
    chosen = chance.sample(usable, wanted)
    *first, last = (called[name] for name in chosen)
    needs = Traits(words=parts_of(chosen))
    text = f"What are the {', the '.join(first)} and the {last}?"
    return _candidate(asking, "columns", text, needs, columns=chosen)


def about_values(asking: Asking, chance: Random) -> Candidate | None:
    """Ask for a table by two cells of one row, or one: texts before numbers, rare before common.

    Words that its sampled rows, its columns or documents say are left out, as its names are of a
    sentence: so such a question tells whether what every row says is found.
    """
    if not asking.known.rows:
        return None
    row = chance.choice(asking.known.rows)
    cells = list(dict.fromkeys(cell.strip() for cell in row if cell and _is_typed(cell)))
    cells = [cell for cell in cells if words_in(cell).isdisjoint(asking.said)]
    chance.shuffle(cells)
    often = Counter(cell.strip() for one in asking.known.rows for cell in set(one) if cell)
    chosen = sorted(cells, key=lambda cell: (not _TOLD.search(cell), often[cell]))[:2]
    if not chosen or not _TOLD.search(chosen[0]):
        return None
    needs = Traits(cells=frozenset(map(folded, chosen)))
    return _candidate(asking, "value", f"Where is {' with '.join(map(one_line, chosen))}?", needs)


def about_context(asking: Asking, chance: Random) -> Candidate | None:
    """Ask for a table by a sentence that people wrote about it, without its names and small words.

    Words of the table's names would find it by these.
    """
    sentences = _sentences(asking.known.texts)
    if not sentences:
        return None
    small = ENGLISH_STOP_WORDS | QUESTION_STOP_WORDS | asking.known.traits().names
    said = dict.fromkeys(one.casefold() for one in _WORD.findall(chance.choice(sentences)))
    words = [one for one in said if _TOLD.search(one) and not words_in(one) <= small]
    if len(words) < _FEWEST_WORDS:
        return None
    chosen = words[:MOST_WORDS]
    needs = Traits(texts=words_in(" ".join(chosen)))
    return _candidate(asking, "context", f"What is there about {' '.join(chosen)}?", needs)


KINDS: Mapping[str, Callable[[Asking, Random], Candidate | None]] = {
    "name": about_name,
    "columns": about_columns,
    "value": about_values,
    "context": about_context,
}
"""How a question of each kind is made; None where chance found nothing to ask."""


def _candidate(
    asking: Asking, kind: str, text: str, needs: Traits, **made: Any
) -> Candidate | None:
    if len(text) > LONGEST:
        return None
    return Candidate(kind, asking.known.table_id, text, needs, {"wording": "template", **made})


def _called(name: str, described: str) -> str:
    """Return the first clause of what is said of a column if it is short, else its name's words.

    It follows "the", so an article that it begins with is left out.
    """
    clause = one_line(_CLAUSE.split(described, maxsplit=1)[0]).strip(" ,")
    clause = _ARTICLE.sub("", clause)
    if not clause or len(clause.split()) > MOST_WORDS or clause.endswith("…"):
        return in_plain_words(name)
    starts_a_word = len(clause) > 1 and clause[0].isupper() and clause[1].islower()
    return clause[0].lower() + clause[1:] if starts_a_word else clause


def _with_slip(name: str, chance: Random) -> str:
    """Return a name with a letter left out, doubled, or exchanged with the next."""
    at = chance.randrange(1, len(name) - 1)
    letter, following = name[at], name[at + 1]
    slip = chance.choice(["", letter * 2, following + letter])
    return name[:at] + slip + name[at + (2 if slip == following + letter else 1) :]


def _is_typed(cell: str) -> bool:
    """Tell whether a person would type such a cell."""
    text = cell.strip()
    plain = text.isprintable() and any(map(str.isalnum, text))
    return plain and _SHORTEST <= len(text) <= _LONGEST_CELL and len(text.split()) <= _CELL_WORDS


def _sentences(texts: Sequence[str]) -> list[str]:
    found = []
    for text in texts:
        for paragraph in re.split(r"\n\s*\n", text):
            flat, start = " ".join(paragraph.split()), 0
            for end in sentence_ends(flat):
                found.append(flat[start:end])
                start = end
    return found
