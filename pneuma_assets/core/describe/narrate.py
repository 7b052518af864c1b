"""Asks a language model to describe columns, and keeps what is worth showing.

A description that is nearer to another column of the table misleads whoever reads or searches it;
saying nothing costs nothing, since the name stands in.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pneuma_assets.core.describe.prompts import Ground, column_prompt, grounded_prompt
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import Description, Provenance, Table
from pneuma_assets.core.text.sentences import sentence_ends

ACTIVITY = "schema narrations"
"""What progress is reported under."""

NARRATION_TOKENS = 48
"""Most tokens of one description."""

SECOND_SENTENCE = ("\n", ". It", ". The", ". This")
"""Where an answer ends. The paper's narrations are one sentence (figure 3); what small models add
to it takes longer than the sentence and is mostly padding that any question's words can hit."""


@dataclass(frozen=True, slots=True)
class NarrationRequest:
    """The column at `position` of a table with these columns is to be described.

    With a `ground` the prompt shows it; without, it is the paper's.
    """

    table_id: str
    columns: tuple[str, ...]
    position: int
    ground: Ground | None = None

    @property
    def prompt(self) -> str:
        """What the model is asked."""
        if self.ground is None:
            return column_prompt(self.columns, self.position)
        return grounded_prompt(self.columns, self.position, self.ground)


@dataclass(frozen=True, slots=True)
class Narration:
    """What the model says of a column; empty where it has nothing to say.

    `problem` says why there is no answer at all (`models.base.Generation`).
    """

    table_id: str
    position: int
    text: str
    problem: str | None = None


def narrate_columns(
    model: LanguageModel, requests: Sequence[NarrationRequest]
) -> Iterator[Narration]:
    """Yield one narration a request, as they finish, in any order.

    The prompts of all tables form one pool (section 4), those of one table side by side so that
    the model may read their schema once. The same prompt is asked only once: tables cut from one
    mould have the same columns.

    Raises:
        ModelError: The model is missing or fails; what was yielded before is good.
    """
    askers: dict[str, list[NarrationRequest]] = {}
    for request in requests:
        askers.setdefault(request.prompt, []).append(request)
    prompts = list(askers)
    done = 0
    report(ACTIVITY, done, len(requests))
    for generation in model.generate(prompts, NARRATION_TOKENS, SECOND_SENTENCE):
        text = tidy(generation.text, whole=generation.whole)
        for request in askers[prompts[generation.index]]:
            done += 1
            report(ACTIVITY, done, len(requests))
            yield Narration(request.table_id, request.position, text, generation.problem)


MAX_CHARACTERS = 400

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_NOTHING = re.compile(r"^\W*no description\b", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n\s*\n")
_LOOSE_END = re.compile(
    r"([\s,;:-]+(a|an|and|as|at|based|by|for|in|is|it|of|on|or|that|the|to|which|with))*[\s,;:-]*$",
    re.IGNORECASE,
)
_LONGEST_LOOP = 40
_PLEASANTRY = re.compile(
    r"(?:\W*(?:sure(?: thing)?|certainly|of course|absolutely|definitely|okay|ok|no problem|gladly)"
    r"\b\s*[!.,:;]+\s*)+",
    re.IGNORECASE,
)
_HERE_IS = re.compile(
    r"here(?:['\u2019]s| is| are)\b(?:[^.!?:]*:|[^.!?:]*\b(?:description|explanation|summary)"
    r"\b[^.!?:]*(?:[.!]|$))\s*",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:the|this)\b[^.]{0,100}?\bcolumn\s+(?:represents|contains|indicates|refers\s+to|shows|"
    r"stores|describes|denotes|records|provides|lists|is)\s+(?=\S)",
    re.IGNORECASE,
)


def tidy(answer: str, *, whole: bool = False) -> str:
    """Return a model's answer as one line of whole sentences, empty if it describes nothing.

    Only its first paragraph counts, without pleasantries ("Sure! Here is a description:") and
    the opening that answers share ("The x column represents …"): every table would otherwise have
    these words in common. Sentences said before are dropped and loops, which small models fall
    into, cut after their first round. A sentence cut off by the token limit goes if a whole one
    stands before it; where the model or a stop string ended the answer (`whole`), its last words
    are a sentence even without a full stop.
    """
    answer = answer[: 10 * MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8").strip()
    paragraph, *others = _PARAGRAPH.split(answer, maxsplit=1)
    text = _without_pleasantries(_BLANKS.sub(" ", paragraph).strip())
    if not text or _NOTHING.match(text):
        return ""
    sentences, rest = _sentences(text)
    if rest and (whole or others):
        sentences.append(rest.rstrip(" ,;:-"))
    elif not sentences:
        sentences.append(_LOOSE_END.sub("", _without_loop(rest)))
    kept: dict[str, str] = {}
    for sentence in map(_without_loop, sentences):
        kept.setdefault(sentence.rstrip(".!?").lower(), sentence)
    first, *more = kept.values()
    return _bounded([_without_opening(first), *more])


def _sentences(text: str) -> tuple[list[str], str]:
    """Split a line into its whole sentences and what follows the last of them."""
    sentences, start = [], 0
    for end in sentence_ends(text):
        sentences.append(text[start:end].strip())
        start = end
    return sentences, text[start:].strip()


def _without_pleasantries(text: str) -> str:
    said = text
    for politeness in (_PLEASANTRY, _HERE_IS):
        found = politeness.match(said)
        said = said[found.end() :] if found else said
    return said if said == text else said[:1].upper() + said[1:]


def _without_opening(sentence: str) -> str:
    said = _OPENING.sub("", sentence)
    return sentence if said == sentence else said[:1].upper() + said[1:]


def _without_loop(sentence: str) -> str:
    """Cut a sentence where it begins to say the same words in a row again.

    Three words or more said twice are a loop, fewer only if said three times ("day by day").
    """
    words = sentence.split()
    keys = [word.strip(".,;:!?\"'()").lower() for word in words]
    for at in range(len(keys)):
        for length in range(1, min(_LONGEST_LOOP, (len(keys) - at) // 2) + 1):
            rounds = 2 if length >= 3 else 3
            round_ = keys[at : at + length]
            if keys[at : at + rounds * length] == round_ * rounds:
                cut = _LOOSE_END.sub("", " ".join(words[: at + length]))
                return cut if cut.endswith((".", "!", "?")) else cut + "."
    return sentence


def _bounded(sentences: list[str]) -> str:
    """Join sentences while they fit; cut the first at a word if it alone does not."""
    text = sentences[0]
    if len(text) > MAX_CHARACTERS:
        return text[: MAX_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"
    for sentence in sentences[1:]:
        if len(text) + 1 + len(sentence) > MAX_CHARACTERS:
            break
        text = f"{text} {sentence}"
    return text


FEWEST_COLUMNS = 3
"""Of a table of fewer, a text leads back to its column whatever it says, or every other time."""

_EQUAL = 1e-6


def round_trip(
    encoder: Encoder,
    table: Table,
    said: Mapping[int, str],
    facts: Mapping[int, Description],
    by: str,
) -> dict[int, Description]:
    """Return the texts whose embedding is nearest to their own column's among the table's.

    Of a table with fewer than `FEWEST_COLUMNS` none is returned, since nothing can be told there.
    A column is its name and what its values show. The confidence is the cosine of both.

    `said` is what the model `by` said and `facts` what names and values show, by position; empty
    texts say nothing.
    """
    positions = [position for position, text in said.items() if text]
    if not positions or len(table.columns) < FEWEST_COLUMNS:
        return {}
    anchors = [
        f"{column.name}: {facts[position].text}" if position in facts else column.name
        for position, column in enumerate(table.columns)
    ]
    texts = encoder.encode_documents([said[position] for position in positions])
    cosines = texts @ encoder.encode_documents(anchors).T
    own = cosines[np.arange(len(positions)), positions]
    passed = own >= cosines.max(axis=1) - _EQUAL
    sure = own.clip(0.0, 1.0).astype(float).round(3).tolist()
    return {
        position: Description(said[position], Provenance.MODEL, by, confidence)
        for position, confidence, good in zip(positions, sure, passed, strict=True)
        if good
    }
