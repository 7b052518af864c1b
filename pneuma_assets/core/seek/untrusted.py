"""Text from outside (cells, names, documents, earlier knowledge, the web) in a prompt: as data.

Whoever wrote it must not order the model about. It stands as a JSON string in a part that is
announced as data, cannot end that string or forge a marker between turns, and a sentence of it
that poses as a part of the prompt, or speaks to a model, is withheld. Other orders are shown as
what they are: patterns of ordering words let most orders pass that they had not been written from,
and withheld texts that order nobody (docs/measurements.md). What a model may do at all is bounded
by code (`core.seek.conductor`, docs/seek.md).
"""

import re

from pneuma_assets.core.text.safe import harmless

WITHHELD = "[withheld: it reads like an instruction]"

_ACTIONS = "think|search|look|fetch|probe|change|materiali[sz]e|run|message"
_MACHINE = "ais?|a\\.i\\.|llms?|language models?|chat ?bots?|gpt|copilot|conductor|materiali[sz]er"
_POSING = re.compile(
    "|".join((
        # An action as it would be answered, and parts of a prompt.
        rf"[\"']?\baction[\"']?\s*[:=]\s*[\"']?(?:{_ACTIONS})\b|[\"']tool_calls?[\"']",
        r"[\"'](?:next|actions)[\"']\s*:\s*[\[{]|###\s*(?:new )?(?:instruction|system|task)",
        r"</?\s*(?:system|assistant|instructions?)\s*>|<\s?\|?\s?im_(?:start|end)",
        r"\b(?:system|assistant|developer)\s*:\s*(?:i (?:will|have)|you|the (?:user|person))\b",
        # To forget what holds, and that it was agreed to.
        r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:previous|prior|above|earlier"
        r"|your|all)\b.{0,30}\b(?:instruction|rule|prompt|guard|limit|guideline|restriction)s?\b",
        r"\bthe (?:user|person) (?:has )?(?:already )?(?:agreed|confirmed|accepted|approved)\b",
        # To whatever machine reads along.
        r"\b(?:dear|hey|hello|hi|attention|note to|to (?:the|any|all|every)|for (?:the|any)|as"
        rf"|if you are)\b.{{0,20}}\b(?:{_MACHINE})\b",
        rf"\b(?:{_MACHINE})\b.{{0,20}}\b(?:must|should|shall|please|has to|have to|now|will)\b",
        rf"(?:^|[\]\"'>:;.!?-]\s*)(?:{_MACHINE})\s*[:,]|\byou(?: are|'re) now\b",
    )),
    re.IGNORECASE,
)  # fmt: skip
_GAPS = re.compile(
    r"[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060\u2800\u3164\ufe00-\ufe0f]"
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=\S)")


def reads_as_order(text: str) -> bool:
    """Tell whether a text poses as a part of a prompt, or speaks to a model."""
    return _POSING.search(_GAPS.sub("", text)) is not None


def outside(text: object, limit: int) -> str:
    """Return a text from outside on one line, at most so long, without sentences of orders."""
    flat = harmless(str(text), max(limit, 4_000))
    if reads_as_order(flat):
        kept = [WITHHELD if reads_as_order(one) else one for one in _SENTENCES.split(flat)]
        flat = " ".join(kept)
        if WITHHELD not in kept or reads_as_order(flat.replace(WITHHELD, "")):
            flat = WITHHELD  # an order that no sentence is alone
    return harmless(flat, limit)
