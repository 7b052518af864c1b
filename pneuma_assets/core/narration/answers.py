"""From what a model writes to one clean line about a column."""

import re

MAX_CHARACTERS = 400

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_NOTHING = re.compile(r"^\W*no description\b", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(
    r"(?<![A-Z.])(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?][\"')]*(?=\s|$)"
)
_LOOSE_END = re.compile(
    r"([\s,;:-]+(a|an|and|as|at|based|by|for|in|is|it|of|on|or|that|the|to|which|with))*[\s,;:-]*$",
    re.IGNORECASE,
)
_LONGEST_LOOP = 40
_OPENING = re.compile(
    r"^(?:the|this)\b[^.]{0,100}?\bcolumn\s+(?:represents|contains|indicates|refers\s+to|shows|"
    r"stores|describes|denotes|records|provides|lists|is)\s+(?=\S)",
    re.IGNORECASE,
)


def tidy(answer: str) -> str:
    """Return the answer as one line of whole sentences, empty if it describes nothing.

    Only its first paragraph counts, without the opening that answers share ("The x column
    represents …"): every table would otherwise have these words in common. Sentences said before
    are dropped and loops, which small models fall into, cut after their first round. A sentence
    cut off by the token limit goes if a whole one stands before it.
    """
    answer = answer[: 10 * MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8").strip()
    text = _BLANKS.sub(" ", _PARAGRAPH.split(answer, maxsplit=1)[0]).strip()
    if _NOTHING.match(text):
        return ""
    sentences, rest = _sentences(text)
    kept = list(dict.fromkeys(_without_loop(sentence) for sentence in sentences))
    if not kept:
        kept = [_LOOSE_END.sub("", _without_loop(rest))]
    kept[0] = _without_opening(kept[0])
    return _bounded(kept)


def _sentences(text: str) -> tuple[list[str], str]:
    """Split a line into its whole sentences and what follows the last of them."""
    sentences, start = [], 0
    for found in _SENTENCE_END.finditer(text):
        sentences.append(text[start : found.end()].strip())
        start = found.end()
    return sentences, text[start:].strip()


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
