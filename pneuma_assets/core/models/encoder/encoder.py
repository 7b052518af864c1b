"""The sentence encoder: from texts to unit-length vectors (Pneuma, section 5.2)."""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.errors import ModelError, PneumaError
from pneuma_assets.core.extras import installed, require
from pneuma_assets.core.hardware import has_gpu, multiplies_bfloat16
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.models.batching import BatchSizer, run_batches
from pneuma_assets.core.models.encoder.endpoint_encoder import EndpointEncoder
from pneuma_assets.core.models.encoder.files import EncoderFiles, locate_encoder
from pneuma_assets.core.models.encoder.plain_bert import PlainBert, open_plain_bert
from pneuma_assets.core.models.endpoint import endpoint_of
from pneuma_assets.core.tables import Vector
from pneuma_assets.core.text.safe import well_formed
from pneuma_assets.core.text.sentences import pieces

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from pneuma_assets.core.models.encoder.sentence_model import SentenceModel, Task

_WORTH_A_GPU = 1_024
_WORTH_TORCH = 35_000
"""Tokens from which torch is worth its loading where a processor multiplies bfloat16: 200 MB, and a
second of processor time, for less than half of NumPy's. On other processors torch is no quicker and
never loaded."""

_MOST_ASKED = 1_000
"""Tokens of a question that are read: 0.4 s of processor time; in some scripts each sign is one."""

_LARGEST_BATCH = 256
_CPU_BATCH_TOKENS = 2048  # 23 ms of processor time a block; 26 at 8,192 (caches)


def open_encoder(config: EncoderConfig, environ: Mapping[str, str] = os.environ) -> Encoder:
    """Return the configured encoder; it is loaded, or connected to, when first needed.

    Args:
        config: Its section.
        environ: Where an endpoint's key is looked up.

    Raises:
        ModelError: The packaged model is not installed or the folder holds none. A model that
            cannot be loaded raises it later, at first use.
    """
    model = config.model
    if model.endpoint_url is not None:
        return EndpointEncoder(config, endpoint_of(model.endpoint_url, model, environ))
    return SentenceEncoder(locate_encoder(model.model), model.device, model.dtype)


class SentenceEncoder:
    """Any sentence-transformers model, loaded when first needed; keeps `models.base.Encoder`.

    Prompts that the model was trained with are respected. Texts are batched by length in tokens,
    so that little is spent on padding. A model of the commonest kind is computed here
    (`models.plain_bert`) but on a GPU, by NumPy until loading torch is worth while. Safe to
    use from several threads, which take turns a batch at a time: a question waits for one batch of
    an indexing run.

    Args:
        files: The encoder's, as `locate_encoder` finds them.
        device: 'auto', or a name that torch knows.
        dtype: 'auto' (bfloat16 where the hardware multiplies it, else float32), or a type's name.
    """

    def __init__(self, files: EncoderFiles, device: str = "auto", dtype: str = "auto") -> None:
        self._files = files
        self._device = None if device == "auto" else device
        self._dtype = dtype
        self._lock = threading.RLock()
        self._loaded: SentenceModel | None = None
        self._read = 0  # tokens of documents so far
        with self._explained():
            self._plain = open_plain_bert(files.folder) if files.folder else None

    @property
    def name(self) -> str:
        """Identifies model and weights, alike on every machine."""
        return self._files.name or self._model.name

    @property
    def dimension(self) -> int:
        """Length of one vector."""
        return self._reader.dimension

    @cached_property
    def window(self) -> int:
        """Most tokens of text read at once, without special tokens and the model's prompt."""
        return self._room(self._reader.document_prompt)

    def token_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return where each token of each text starts and ends, in characters."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.offsets for encoding in encodings]

    def encode_documents(self, texts: Sequence[str]) -> Vector:
        """Embed texts of an index, shape (len(texts), dimension).

        Raises:
            ModelError: The model cannot be loaded, or yields what are no numbers.
            OutOfMemoryError: A single text does not fit in memory.
        """
        return self._encode(texts, "document")

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        """Embed questions, shape (len(texts), dimension); raises as `encode_documents` does.

        A question longer than the window is read in parts, cut as documents are; its vector is
        their mean, each part weighing as many tokens as it has. Of a question of more than 1,000
        tokens, the first 1,000 are read.
        """
        texts = [well_formed(text) for text in texts]
        window = self._room(self._reader.query_prompt)
        asked = [spans[:_MOST_ASKED] for spans in self.token_spans(texts)]
        cut = [
            pieces(text[: spans[-1][1]], spans, window, self.token_spans) if spans else [(text, 1)]
            for text, spans in zip(texts, asked, strict=True)
        ]
        encoded = iter(self._encode([part for parts in cut for part, _ in parts], "query"))
        vectors = [
            _mean([next(encoded) for _ in parts], [size for _, size in parts]) for parts in cut
        ]
        return np.array(vectors, np.float32).reshape(len(texts), self.dimension)

    def _room(self, prompt: str) -> int:
        """Return how many tokens of a text the model reads after this prompt."""
        return max(1, self._reader.max_length - len(self._tokenizer.encode(prompt).ids))

    @property
    def _model(self) -> "SentenceModel":
        with self._lock:
            if self._loaded is None:
                with self._explained():
                    what = f"the encoder {self._files.model}"
                    require(what, ModelError, "torch", "sentence_transformers")
                    from pneuma_assets.core.models.encoder.sentence_model import SentenceModel

                    self._loaded = SentenceModel(self._files, self._device, self._dtype)
            return self._loaded

    @property
    def _reader(self) -> "PlainBert | SentenceModel":
        """What knows the tokenizer and the sizes, without loading more than is loaded."""
        return self._plain or self._model

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        with self._explained():
            return self._reader.tokenizer

    @cached_property
    def _sizer(self) -> BatchSizer:
        return BatchSizer(_LARGEST_BATCH, _CPU_BATCH_TOKENS if self._model.on_cpu else None)

    def _encode(self, texts: Sequence[str], task: "Task") -> Vector:
        texts = [well_formed(text) for text in texts]
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts)]
        sizes = [min(len(ids), self._reader.max_length) for ids in tokens]
        vectors = np.empty((len(texts), self.dimension), np.float32)
        encoded: Iterator[tuple[int, Vector]]
        if task == "document":
            self._read += sum(sizes)
        torch = self._wants_torch(sum(sizes))
        if self._plain and self._loaded is None and not (torch and self._on_gpu):
            encoded = enumerate(self._encode_plainly(self._plain, tokens, half=torch))
        else:
            encoded = self._encode_in_batches(texts, sizes, task)
        for position, vector in encoded:
            vectors[position] = vector
        if not np.isfinite(vectors).all():
            raise ModelError(
                f"The encoder {self.name} yields vectors that are not numbers; its weights are "
                f"damaged, or too large for half precision: set encoder.model to another copy"
            )
        return vectors

    def _encode_plainly(
        self, plain: PlainBert, tokens: Sequence[list[int]], *, half: bool
    ) -> Iterator[Vector]:
        with self._explained():
            yield from plain.encode(tokens, half=half)

    @property
    def _on_gpu(self) -> bool:
        return has_gpu() if self._device is None else not self._device.startswith("cpu")

    def _wants_torch(self, tokens: int) -> bool:
        """Tell whether so many tokens at once, or those of all documents, are quicker by torch.

        Questions come one by one, for days: loading it would hold up those who ask and take
        200 MB and more, to save a fifth of their time.
        """
        if self._loaded is not None:
            return True
        if not installed("torch", "sentence_transformers"):
            return self._device is not None and not self._device.startswith("cpu")
        if self._on_gpu:
            return tokens > _WORTH_A_GPU
        wanted = self._dtype == "bfloat16" or (self._dtype == "auto" and multiplies_bfloat16())
        return wanted and max(tokens, self._read) > _WORTH_TORCH

    def _encode_in_batches(
        self, texts: Sequence[str], sizes: Sequence[int], task: "Task"
    ) -> Iterator[tuple[int, Vector]]:
        """Yield position and vector of each text, longest first, backing off from full memory."""

        def encode(batch: list[int]) -> Iterator[tuple[int, Vector]]:
            with self._lock:
                vectors = self._model.encode([texts[position] for position in batch], task)
            yield from zip(batch, vectors, strict=True)

        return run_batches(sizes, encode, self._sizer)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn whatever the libraries raise over a bad model into one line with a remedy."""
        try:
            yield
        except PneumaError:
            raise
        except Exception as error:
            cause = str(error).strip().splitlines() or [type(error).__name__]
            raise ModelError(
                f"The encoder {self._files.model} cannot be loaded ({cause[0]}); check "
                f"encoder.model and its device, or leave it out for the packaged model"
            ) from error


def _mean(vectors: Sequence[Vector], weights: Sequence[int]) -> Vector:
    """Return the direction of the weighted mean; of one vector, itself."""
    if len(vectors) == 1:
        return vectors[0]
    mean: Vector = np.average(vectors, axis=0, weights=weights)
    return mean / np.linalg.norm(mean)
