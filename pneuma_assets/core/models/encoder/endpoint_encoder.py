"""An encoder behind an endpoint that speaks OpenAI's embeddings: vLLM, TEI, Ollama, OpenAI, Voyage.

What it answers is taken for nothing unless it is one vector a text, of the configured length.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.grouping import portions
from pneuma_assets.core.models.endpoint import Connection, Endpoint
from pneuma_assets.core.models.language.parallel import in_parallel
from pneuma_assets.core.tables import Vector, content_hash
from pneuma_assets.core.text.safe import well_formed

_RULES = "1"
"""Raised where tokens are counted, or texts are sent, otherwise."""

_MOST_TEXTS, _MOST_CHARACTERS = 32, 60_000
"""Of a request: what TEI takes by default, and less than any hosted server does."""

_WINDOW = 512
"""Tokens that most models take."""

_MOST_KEPT = 1_000
"""Questions whose vectors are kept in memory: 4 MB of 1,024 numbers."""

_TOKEN = re.compile(r"[A-Za-z]{1,3}|[^A-Za-z\r\t ]")


def name_at_endpoint(config: EncoderConfig) -> str:
    """Return what identifies an encoder at an endpoint: its name there, and all that it is sent.

    Not its address, which may change: of the same name, it is taken for the same.
    """
    told = config.dimensions, config.window or _WINDOW, config.query_prefix, config.document_prefix
    sent = json.dumps([*told, config.model.extra], sort_keys=True)
    return f"{config.model.model}@endpoint-{content_hash(_RULES, sent)[:12]}"


class EndpointEncoder:
    """Keeps `models.base.Encoder`, and is asked from any number of threads.

    Attributes:
        is_elsewhere: What it embeds leaves this machine, and it may be away.
        name: As of `name_at_endpoint`.
        dimension: As configured: known also while it is away.
        window: Most tokens of text read at once, without what is put before it.
    """

    is_elsewhere = True

    def __init__(self, config: EncoderConfig, endpoint: Endpoint) -> None:
        self._before = config.document_prefix
        self._before_query = config.query_prefix
        self._asked: dict[str, Vector] = {}
        self._connection = Connection(config.model.model, endpoint)
        self.name, self.dimension = name_at_endpoint(config), config.dimensions or 0
        longest = max(len(one) for one in self.token_spans([self._before, self._before_query]))
        self.window = max(1, (config.window or _WINDOW) - longest)

    def token_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return where tokens of each text may start and end, rather too many than too few.

        Which tokenizer the endpoint has is not known. A sign beyond ASCII is counted by its bytes
        in UTF-8, which is what tokenizers have that do not know its script.
        """
        return [
            [one.span() for one in _TOKEN.finditer(text) for _ in range(_tokens_in(one[0]))]
            for text in texts
        ]

    def encode_documents(self, texts: Sequence[str]) -> Vector:
        """Embed texts of an index, shape (len(texts), dimension).

        Raises:
            ModelError: The endpoint is away, refuses, or answers what are no such vectors.
        """
        return self._encode(texts, self._before)

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        """Embed questions, of long ones what fits the window; raises as `encode_documents` does.

        One that is asked again is not sent again.
        """
        ends = [spans[: self.window][-1:] for spans in self.token_spans(texts)]
        cut = [text[: end[0][1]] if end else text for text, end in zip(texts, ends, strict=True)]
        known = self._asked if len(self._asked) < _MOST_KEPT else {}
        new = [one for one in dict.fromkeys(cut) if one not in known]
        made = zip(new, self._encode(new, self._before_query), strict=True)
        self._asked = known = known | dict(made)
        return np.array([known[one] for one in cut], np.float32).reshape(-1, self.dimension)

    def _encode(self, texts: Sequence[str], before: str) -> Vector:
        sent = [before + well_formed(text) for text in texts]
        sizes = {at: len(text) for at, text in enumerate(sent)}
        parts = portions(sizes, _MOST_CHARACTERS, _MOST_TEXTS)
        batches = [[sent[at] for at in part] for part in parts]
        vectors: list[Vector] = [np.empty((0, self.dimension), np.float32)] * (len(batches) + 1)
        for at, made in in_parallel(self._sent, batches, self._connection.at.concurrency):
            vectors[at] = made
        return np.concatenate(vectors)

    def _sent(self, batch: Sequence[str]) -> Vector:
        given = {**(self._connection.at.options or {}), "dimensions": self.dimension}
        said, asked = {"input": list(batch)}, "".join(batch)
        reply = self._connection.ask("/embeddings", said, asked, given, self._connection.deadline())
        return self._read(reply, len(batch))

    def _read(self, reply: Any, count: int) -> Vector:
        """Return the vectors of an answer in the order of their texts, in unit length."""
        where = self._connection.where
        try:
            data = reply["data"]
            by_index = {one.get("index", at): one["embedding"] for at, one in enumerate(data)}
            if len(data) != count or by_index.keys() != {*range(count)}:
                raise ModelError(f"{where} sent {len(by_index)} vectors for {count} texts")
            vectors = np.array([by_index[at] for at in range(count)], np.float64)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
            raise ModelError(f"{where} sent no vectors; see its log") from None
        if vectors.shape != (count, self.dimension):
            raise ModelError(
                f"{where} sent vectors of {vectors.shape[-1]} numbers, not {self.dimension}: set "
                "encoder.dimensions to what its model has"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise ModelError(f"{where} sent vectors that have no direction; see its log")
        return np.asarray(vectors / lengths, np.float32)


def _tokens_in(sign: str) -> int:
    return 1 if sign.isascii() else max(1, len(sign.encode(errors="replace")) - 1)
