"""A small BERT sentence encoder in NumPy, for installations and processes without torch.

Loading torch, transformers and sentence-transformers takes six seconds of processor time, this a
tenth of one. It covers the commonest kind of sentence encoder (BERT, mean of the tokens, no
prompts), all-MiniLM-L6-v2 among them, and `open_plain_bert` declines every other. Same weights,
same tokenizer, same formulas: vectors agree with sentence-transformers' in float32 to 1e-5
(`tests/integration/test_encoder.py`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pneuma_assets.core.models.encoder.files import unbounded
from pneuma_assets.core.tables import Vector

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_FILES = ("modules.json", "config.json", "sentence_bert_config.json", "1_Pooling/config.json")
_MODULES = ("Transformer", "Pooling", "Normalize")
_CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
}
_POOLING = "pooling_mode_mean_tokens"
_WEIGHTS = "model.safetensors"
_TOKENIZER = "tokenizer.json"
_BATCH_TOKENS = 512
"""Multiplied at a time: as quick as any number from 256 to 1,024, and small in memory."""

_ROWS = 64
"""For torch, rows are filled up to a multiple of it: of each number it keeps a compiled kernel."""

_ERF = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)


class PlainBert:
    """The encoder's settings, read at once, and its weights, read when first needed.

    Attributes:
        dimension: Length of one vector.
        max_length: Most tokens of a text, special tokens counted.
        document_prompt: Always empty, as is `query_prompt`: models with prompts are declined.
    """

    document_prompt = query_prompt = ""

    def __init__(self, folder: Path, config: Mapping[str, Any], max_length: int) -> None:
        self.dimension = int(config["hidden_size"])
        self.max_length = max_length
        self._heads = int(config["num_attention_heads"])
        self._layers = int(config["num_hidden_layers"])
        self._epsilon = float(config["layer_norm_eps"])
        self._folder = folder

    @cached_property
    def tokenizer(self) -> "Tokenizer":
        """The model's tokenizer; it neither cuts nor pads, and serves several threads."""
        from tokenizers import Tokenizer

        return unbounded(Tokenizer.from_file(str(self._folder / _TOKENIZER)))

    def encode(self, texts: Sequence[Sequence[int]], *, half: bool = False) -> Iterator[Vector]:
        """Yield the unit-length vector of each text, special tokens included in its ids.

        With `half` torch computes the layers in bfloat16: less than half the work where the
        processor multiplies that, for 200 MB.

        Of more than `max_length` tokens the last one stays, which ends every text. Several texts
        are multiplied at a time, end to end and so without padding: a short one alone costs as
        much reading of weights as a long one.

        One thread multiplies: matrices this small finish before others wake up, and on a busy
        machine waiting for them costs ten times the work (10 ms against 40 to 300 ms a question).
        """
        with _blas().limit(limits=1, user_api="blas"):
            for batch in _batches([self._cut(ids) for ids in texts]):
                yield from self._encode(batch, half=half)

    def _cut(self, token_ids: Sequence[int]) -> list[int]:
        return [*token_ids[:-1][: self.max_length - 1], token_ids[-1]]

    @property
    def _file(self) -> Any:
        """The file of weights, mapped into memory as long as somebody reads of it."""
        from safetensors import safe_open

        return safe_open(self._folder / _WEIGHTS, framework="numpy")

    @cached_property
    def _names(self) -> Mapping[str, str]:
        """Of the weights in the file; some models are saved as a part of a larger one."""
        return {name.removeprefix("bert."): name for name in self._file.keys()}  # noqa: SIM118

    @cached_property
    def _words(self) -> Any:
        """The vectors of the vocabulary, half of the file, of which a text needs a few rows."""
        return self._file.get_slice(self._names["embeddings.word_embeddings.weight"])

    @cached_property
    def _weights(self) -> Mapping[str, Vector]:
        """All others; those of layers are transposed, by which few tokens are multiplied faster.

        It takes 7 instead of 11 ms for the twelve tokens of a question.
        """
        names = {own: name for own, name in self._names.items() if "word_embeddings" not in own}
        file = self._file
        found = ((own, file.get_tensor(name)) for own, name in names.items())
        return {
            own: np.ascontiguousarray(one.T if own.startswith("encoder") else one, np.float32)
            for own, one in found
        }

    @cached_property
    def _halves(self) -> Mapping[str, Any]:
        """Those of layers in bfloat16, as torch has them."""
        import torch

        layers = {own: one for own, one in self._weights.items() if own.startswith("encoder")}
        return {own: torch.from_numpy(one.T).bfloat16().contiguous() for own, one in layers.items()}

    def _encode(self, texts: Sequence[Sequence[int]], *, half: bool) -> Iterator[Vector]:
        ends = np.cumsum([len(ids) for ids in texts])
        spans = [slice(end - len(ids), end) for ids, end in zip(texts, ends, strict=True)]
        positions = np.concatenate([np.arange(len(ids)) for ids in texts])
        x = (
            np.concatenate([self._words[one : one + 1] for ids in texts for one in ids])
            + self._weights["embeddings.position_embeddings.weight"][positions]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        weight, bias = (self._weights[f"embeddings.LayerNorm.{one}"] for one in ("weight", "bias"))
        x = _NumPy.layer_norm(x, x.shape[1:], weight, bias, self._epsilon)
        if half:
            x = self._layers_by_torch(x, spans)
        else:
            x = self._layers_of(x, spans, _NumPy, self._weights)
        for span in spans:
            mean: Vector = x[span].mean(axis=0)
            yield mean / np.float32(np.linalg.norm(mean))

    def _layers_by_torch(self, x: Vector, spans: Sequence[slice]) -> Vector:
        import torch

        with torch.inference_mode():
            rows = torch.from_numpy(np.pad(x, ((0, -len(x) % _ROWS), (0, 0)))).bfloat16()
            rows = self._layers_of(rows, spans, torch.nn.functional, self._halves)
            made: Vector = rows.float().numpy()
        return made

    def _layers_of(
        self, x: Any, spans: Sequence[slice], by: Any, weights: Mapping[str, Any]
    ) -> Any:
        """Self-attention, then the feed-forward network, each added to its input and normed.

        Each token of a text attends to those of the same text. `by` has the functions, called as
        torch calls them, for arrays such as `x` and `weights`.
        """

        def of(name: str) -> tuple[Any, Any]:
            return weights[f"{name}.weight"], weights[f"{name}.bias"]

        for name in (f"encoder.layer.{layer}" for layer in range(self._layers)):
            query, key, value = (
                by.linear(x, *of(f"{name}.attention.self.{part}"))
                .reshape(1, len(x), self._heads, -1)
                .swapaxes(1, 2)
                for part in ("query", "key", "value")
            )
            attended = x * 0
            for span in spans:
                parts = query[:, :, span], key[:, :, span], value[:, :, span]
                found = by.scaled_dot_product_attention(*parts)[0]
                attended[span] = found.swapaxes(0, 1).reshape(-1, x.shape[1])
            norm, output = f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"
            x = x + by.linear(attended, *of(f"{name}.attention.output.dense"))
            x = by.layer_norm(x, x.shape[1:], *of(norm), self._epsilon)
            wide = by.gelu(by.linear(x, *of(f"{name}.intermediate.dense")))
            x = x + by.linear(wide, *of(f"{name}.output.dense"))
            x = by.layer_norm(x, x.shape[1:], *of(output), self._epsilon)
        return x


class _NumPy:
    """What `torch.nn.functional` has, in float32; weights of `linear` are transposed."""

    @staticmethod
    def linear(x: Vector, weight: Vector, bias: Vector) -> Vector:
        projected: Vector = x @ weight + bias
        return projected

    @staticmethod
    def layer_norm(
        x: Vector, _shape: object, weight: Vector, bias: Vector, epsilon: float
    ) -> Vector:
        centred = x - x.mean(axis=-1, keepdims=True)
        centred /= np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)
        normed: Vector = centred * weight
        return normed + bias

    @staticmethod
    def scaled_dot_product_attention(query: Vector, key: Vector, value: Vector) -> Vector:
        query = query / np.float32(np.sqrt(query.shape[-1]))
        scores = query @ key.swapaxes(-1, -2)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        attended: Vector = scores @ value
        return attended

    @staticmethod
    def gelu(x: Vector) -> Vector:
        """Return x * Phi(x), with erf by Abramowitz and Stegun 7.1.26: within 5e-7, in float32."""
        size = np.abs(x)
        size *= np.float32(np.sqrt(0.5))
        t = np.float32(0.3275911) * size
        t += 1
        np.reciprocal(t, out=t)
        erf = t * np.float32(_ERF[0])
        for coefficient in _ERF[1:]:
            erf += np.float32(coefficient)
            erf *= t
        size *= -size
        erf *= np.exp(size, out=size)
        np.subtract(1, erf, out=erf)
        np.copysign(erf, x, out=erf)
        erf += 1
        erf *= x
        erf *= np.float32(0.5)
        return erf


def open_plain_bert(folder: Path) -> PlainBert | None:
    """Return the encoder if the folder holds one that this module reads exactly, else None."""
    try:
        modules, config, transformer, pooling = (_read_json(folder / name) for name in _FILES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    prompts_file = folder / "config_sentence_transformers.json"
    prompts = _read_json(prompts_file).get("prompts", {}) if prompts_file.is_file() else {}
    plain = (
        tuple(module["type"].rsplit(".", 1)[-1] for module in modules) == _MODULES
        and all(config.get(key, wanted) == wanted for key, wanted in _CONFIG.items())
        and [mode for mode, on in pooling.items() if on is True] == [_POOLING]
        and not any(prompts.values())
        and (folder / _WEIGHTS).is_file()
        and (folder / _TOKENIZER).is_file()
    )
    return PlainBert(folder, config, int(transformer["max_seq_length"])) if plain else None


def _batches(texts: Sequence[list[int]]) -> Iterator[list[list[int]]]:
    """Yield texts in order, as many at a time as have `_BATCH_TOKENS`."""
    batch: list[list[int]] = []
    tokens = 0
    for ids in texts:
        if batch and tokens + len(ids) > _BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(ids)
        tokens += len(ids)
    if batch:
        yield batch


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))
