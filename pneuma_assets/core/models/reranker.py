"""Rerankers: models that score texts by how well they answer a question, and say nothing else."""

import re
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pneuma_assets.core.config.models import ModelConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.extras import require
from pneuma_assets.core.models.endpoint import Connection, RefusedError, endpoint_of


class Reranker:
    """A `CrossEncoder` of sentence-transformers, or one behind `/rerank` (vLLM, Cohere, Jina, TEI).

    Nothing is loaded or connected to before its first use; several threads may use it.

    Args:
        config: An entry of `models`.
        environ: Where the endpoint's key is looked up.
    """

    def __init__(self, config: ModelConfig, environ: Mapping[str, str]) -> None:
        self._config, self._lock = config, threading.Lock()
        url = config.endpoint_url
        self._asking = url and Connection(config.model, endpoint_of(url, config, environ))
        self._texts = "documents"  # as the endpoint calls them; TEI says that it lacks `texts`

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a finite score a text, higher for what answers better.

        Raises:
            ModelError: It is missing, away or fails; `RefusedError` where it scores not each text.
        """
        if self._asking:
            found = self._answered(self._asking, question, texts)
        else:
            with self._lock:
                pairs = [(question, text) for text in texts]
                found = dict(enumerate(self._model.predict(pairs, show_progress_bar=False)))
        try:
            scores = np.array([found[at] for at in range(len(texts))], np.float64)
        except (KeyError, TypeError, ValueError, OverflowError):
            scores = np.empty(0)
        if scores.shape != (len(texts),) or not np.isfinite(scores).all():
            told = f"the reranker {self._config.model} gave not each of {len(texts)} tables a score"
            raise RefusedError(told, silent=True)
        return [float(one) for one in scores]

    def close(self) -> None:
        """Let the model go, or close the connections; the object is not used afterwards."""
        self.__dict__.pop("_model", None)
        if self._asking:
            self._asking.close()

    def _answered(
        self, asking: Connection, question: str, texts: Sequence[str]
    ) -> Mapping[Any, Any]:
        """Return the scores that an endpoint gives, by the number of the text."""
        said, asked = {"query": question, self._texts: list(texts)}, "".join((question, *texts))
        try:
            reply = asking.ask("/rerank", said, asked, asking.at.options or {}, asking.deadline())
        except RefusedError as error:
            if self._texts == "texts" or not re.search(r"\btexts\b", str(error)):
                raise
            self._texts = "texts"
            return self._answered(asking, question, texts)
        try:
            found = reply if isinstance(reply, list) else reply.get("results") or reply["data"]
            scores = {one["index"]: one.get("relevance_score", one.get("score")) for one in found}
        except (LookupError, TypeError, AttributeError):
            return {}
        return scores if len(found) == len(texts) else {}

    @cached_property
    def _model(self) -> Any:
        name, device = self._config.model, self._config.device
        require(f"the reranker {name}", ModelError, "torch", "sentence_transformers")
        from sentence_transformers import CrossEncoder

        try:
            return CrossEncoder(name, device=None if device == "auto" else device)
        except Exception as error:
            cause = str(error).strip().splitlines() or [type(error).__name__]
            told = f"The reranker {name} cannot be loaded ({cause[0]}); check judge.model"
            raise ModelError(told) from error
