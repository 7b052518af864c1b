"""Four kinds of questions about a table, each made of something else that is known of it."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random

from pneuma_assets.core.measure.known import Known, folded, in_plain_words, parts_of, words_in
from pneuma_assets.core.text.analysis import ENGLISH_STOP_WORDS, QUESTION_STOP_WORDS
from pneuma_assets.core.text.safe import one_line
from pneuma_assets.core.text.sentences import sentence_ends

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


Question = tuple[str, frozenset[str]]
"""A text, and the words and cells, folded, that a table must have to answer it."""


def about_name(known: Known, chance: Random) -> Question | None:
    """Ask for a table by its own name: in words, abbreviations spelt out, or typed with a slip."""
    name = known.names[-1] if known.names else ""
    words = in_plain_words(name)
    if not _TOLD.search(words):
        return None
    slipped = len(name) >= _SLIPPED
    text = one_line(_with_slip(name, chance)) if slipped else f"What is there about {words}?"
    return text, parts_of([name]) - ENGLISH_STOP_WORDS


def about_columns(known: Known, chance: Random) -> Question | None:
    """Ask for a table by two or three of its columns, as people call or describe them."""
    called = {name: _called(name, known.described.get(name, "")) for name in known.columns}
    usable = [name for name, said in called.items() if _TOLD.search(said)]
    if len(usable) < _COLUMNS[0]:
        return None
    chosen = chance.sample(usable, min(chance.choice(_COLUMNS), len(usable)))
    *first, last = (called[name] for name in chosen)
    return f"What are the {', the '.join(first)} and the {last}?", parts_of(chosen)


def about_values(known: Known, chance: Random) -> Question | None:
    """Ask for a table by two cells of one row, or one: texts before numbers, rare before common.

    Words that its sampled rows, its columns or documents say are left out, as its names are of a
    sentence: so such a question tells whether what every row says is found.
    """
    if not known.rows:
        return None
    row = chance.choice(known.rows)
    said = known.words | words_in(" ".join([*known.sampled, *known.described.values()]))
    cells = list(dict.fromkeys(cell.strip() for cell in row if cell and _is_typed(cell)))
    cells = [cell for cell in cells if words_in(cell).isdisjoint(said)]
    chance.shuffle(cells)
    often = Counter(cell.strip() for one in known.rows for cell in set(one) if cell)
    chosen = sorted(cells, key=lambda cell: (not _TOLD.search(cell), often[cell]))[:2]
    if not chosen or not _TOLD.search(chosen[0]):
        return None
    return f"Where is {' with '.join(map(one_line, chosen))}?", frozenset(map(folded, chosen))


def about_context(known: Known, chance: Random) -> Question | None:
    """Ask for a table by a sentence that people wrote about it, without its names and small words.

    Words of the table's names would find it by these.
    """
    sentences = _sentences(known.texts)
    if not sentences:
        return None
    small = ENGLISH_STOP_WORDS | QUESTION_STOP_WORDS | known.name_words
    said = dict.fromkeys(one.casefold() for one in _WORD.findall(chance.choice(sentences)))
    words = [one for one in said if _TOLD.search(one) and not words_in(one) <= small]
    if len(words) < _FEWEST_WORDS:
        return None
    chosen = " ".join(words[:MOST_WORDS])
    return f"What is there about {chosen}?", words_in(chosen)


VALUE = "value"
"""The kind that asks for cells."""
KINDS: Mapping[str, Callable[[Known, Random], Question | None]] = {
    "name": about_name,
    "columns": about_columns,
    VALUE: about_values,
    "context": about_context,
}
"""What makes a question of each kind; None where a table gives none."""


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
