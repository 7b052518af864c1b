"""A sentence-transformers model in memory, and what using it well needs to know of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from tokenizers import Tokenizer

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.encoder.files import EncoderFiles, unbounded
from pneuma_assets.core.tables import Vector

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Task = Literal["document", "query"]

LONGEST = 8192
"""Tokens read at once where the model names no limit, or an absurd one."""

# The order in which sentence-transformers looks for the prompt before a text.
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
_QUERY_PROMPTS = ("query",)


class SentenceModel:
    """A loaded encoder. Not safe to use from several threads; its owner takes turns.

    Weights are bfloat16 where the hardware multiplies it, as the language models' are: half the
    work at the same recall. Vectors come out in float32 and unit length whatever computed them,
    and are near enough to each other (cosine above .999) to be those of one encoder.

    Attributes:
        name: Identifies model and weights, whatever their type.
        dimension: Length of one vector.
        max_length: Most tokens of a text, prompt and special tokens counted.
        document_prompt: What the model was trained to see before a document; often nothing.
        query_prompt: Likewise before a question.
        tokenizer: A copy that neither cuts nor pads, and is safe to use from several threads.
    """

    def __init__(self, files: EncoderFiles, device: str | None, dtype: str = "auto") -> None:
        self._model = _load(files, device, dtype)
        self.name = files.name or f"{files.model}@{self._revision()}"
        self.dimension = int(self._model.get_embedding_dimension() or 0)
        self.max_length = min(int(self._model.max_seq_length or LONGEST), LONGEST)
        self.document_prompt = self._prompt(_DOCUMENT_PROMPTS)
        self.query_prompt = self._prompt(_QUERY_PROMPTS)
        self.tokenizer = self._copy_tokenizer()

    @property
    def on_cpu(self) -> bool:
        """Whether batches compete for the processor's caches rather than fill a GPU."""
        return str(self._model.device) == "cpu"

    def encode(self, texts: Sequence[str], task: Task) -> Vector:
        """Embed one batch, shape (len(texts), dimension), with the prompt for the task if any."""
        encode = self._model.encode_query if task == "query" else self._model.encode_document
        encoded = encode(list(texts), batch_size=len(texts), show_progress_bar=False)
        vectors: Vector = np.asarray(encoded, np.float32)
        # Normed here, not by the model, whose half precision would leave lengths of 1.001.
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.maximum(lengths, np.finfo(np.float32).tiny)
        return vectors

    def _prompt(self, names: Sequence[str]) -> str:
        prompts = self._model.prompts
        name = next((name for name in names if name in prompts), None)
        return str(prompts.get(name or self._model.default_prompt_name or "", ""))

    def _revision(self) -> str:
        """Return the hub's commit; the same name at another commit is another model."""
        config = getattr(self._model[0], "config", None)
        return str(getattr(config, "_commit_hash", None) or "unknown")

    def _copy_tokenizer(self) -> Tokenizer:
        backend: Any = getattr(self._model.tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise ModelError(
                f"The encoder {self.name} has no fast tokenizer, which packing blocks needs; "
                f"set encoder.model to one that has a tokenizer.json"
            )
        return unbounded(Tokenizer.from_str(backend.to_str()))


def _load(files: EncoderFiles, device: str | None, dtype: str) -> "SentenceTransformer":
    import torch
    from sentence_transformers import SentenceTransformer

    from pneuma_assets.core.models.language.transformers.loading import best_dtype, no_progress_bars

    with no_progress_bars():
        model = SentenceTransformer(
            files.model, device=device, local_files_only=files.folder is not None
        )
    on_gpu = torch.cuda.is_available() if device is None else not device.startswith("cpu")
    # All modules at once: a dense layer of another type than the transformer's would not run.
    return model.to(best_dtype(on_gpu=on_gpu) if dtype == "auto" else getattr(torch, dtype))
