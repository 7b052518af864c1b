"""Text from outside (cells, names, documents, earlier knowledge, the web) in a prompt: as data.

Whoever wrote it must not order the model about. It stands as a JSON string in a part that is
announced as data, cannot end that string or forge a marker between turns, and what reads like an
order to a model is withheld. That last is a sieve with holes, so nothing rests on it alone: what a
model may do at all is bounded by code (`core.seek.conductor`, docs/seek.md).
"""

import re

from pneuma_assets.core.text.safe import harmless

WITHHELD = "[withheld: it reads like an instruction]"

_ACTIONS = "think|search|look|probe|change|materiali[sz]e|run|message"
_READER = "ai|llm|(?:language )?model|assistant|agent|chatbot|gpt|conductor|materiali[sz]er"
_DO = (
    "call|run|execute|invoke|use|send|post|upload|e-?mail|fetch|visit|open|delete|drop|remove|read|"
    "query|select|search|materiali[sz]e|confirm|accept|approve|export|share|save|reply|answer|"
    "respond|say|write|add|set|change|tell|output|print|repeat|reveal"
)
_ORDERS = re.compile(
    "|".join(
        (
            # An action as it would be answered, and parts of a prompt.
            r"[\"']?\b(?:action|next)[\"']?\s*[:=]\s*[\"'{]",
            rf"[\"'](?:{_ACTIONS})[\"']\s*[,}}:]",
            r"</?(?:data|system|user|assistant|instructions?|context)>|<\s?\|?\s?im_(?:start|end)",
            rf"\b(?:system|assistant|user|developer)\s*:\s*(?:{_DO})\b",
            r"\b(?:system|developer)\s*(?:prompt|message|instruction)",
            r"###\s*(?:instruction|system|task)",
            # To forget what holds.
            r"\b(?:ignore|disregard|forget|override|bypass|skip)\b.{0,60}\b(?:instruction|rule|prompt|"
            r"guard|limit|confirmation|context|check)s?\b",
            r"\bnew (?:instructions?|rules?|task)\b|\bfrom now on\b|\binstead of answering\b",
            # To a model, or to whatever reads along.
            rf"\b(?:dear|hey|hello|hi|attention|note to|to the|as an?|for the)\b.{{0,15}}"
            rf"\b(?:{_READER})\b.{{0,5}}[:,!]",
            rf"\b(?:{_READER})\b.{{0,10}}\b(?:must|should|shall|please|now|will)\b",
            r"\byou (?:must|should|shall|have to|need to|will|can now)\b",
            r"\byou are (?:now|required|instructed|ordered|to)\b",
            rf"\b(?:please|now|immediately|always|instead)\b[ ,:]*(?:you )?\b(?:{_DO})\b",
            rf"\b(?:call|invoke|execute|use|trigger|perform)\b.{{0,20}}\b(?:action|tool|{_ACTIONS})\b",
            rf"\b(?:{_DO}|forward|leak|transmit)\b.{{0,60}}\b(?:to|at|via|from)\b.{{0,20}}"
            r"(?:https?:|www\.|\w@\w)",
            r"\b(?:reply|answer|respond)\b (?:only )?(?:with|in|that|to this)\b",
            r"\b(?:mark|treat|consider|regard)\b.{0,30}\bas (?:confirm|accept|approv|agre)ed\b",
            r"\bthe (?:user|person) (?:has |have )?(?:already )?(?:agreed|confirmed|accepted|wants|"
            r"asked|approved|said)\b",
            # What machines alone follow.
            r"\b(?:drop|truncate|alter|create|attach|copy|pragma|install|load)\s+(?:table|database|"
            r"extension|view|schema)\b",
            r"\bimport os\b|\bos\.system|\bsubprocess\b|\beval\(|\bexec\(|__import__",
        )
    ),
    re.IGNORECASE,
)
_GAPS = re.compile(r"[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f]")


def reads_as_order(text: str) -> bool:
    """Tell whether a text seems to order a model about."""
    return _ORDERS.search(_GAPS.sub("", text)) is not None


def outside(text: object, limit: int) -> str:
    """Return a text from outside on one line, at most so long; withheld where it is an order."""
    flat = harmless(str(text), max(limit, 4_000))
    return WITHHELD if reads_as_order(flat) else harmless(flat, limit)
