"""From what a model writes to one clean line about a column."""

import re

from pneuma_assets.core.text.sentences import sentence_ends

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
    """Return the answer as one line of whole sentences, empty if it describes nothing.

    Only its first paragraph counts, without pleasantries ("Sure! Here is a description:") and
    the opening that answers share ("The x column represents …"): every table would otherwise have
    these words in common. Sentences said before are dropped and loops, which small models fall
    into, cut after their first round. A sentence cut off by the token limit goes if a whole one
    stands before it.

    Args:
        answer: What the model wrote.
        whole: Whether the answer ends where the model or a stop string ended it, so that its last
            words are a sentence even without a full stop.
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
