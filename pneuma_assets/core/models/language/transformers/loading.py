"""Loads a causal language model and its tokenizer through transformers and accelerate."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.base import Conversation, conversation

for _kernels in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
    os.environ.setdefault(_kernels, "16")  # of 1,024 shapes they would take a gigabyte

_FALLBACK_WINDOW = 4096
"""Tokens, for a model whose configuration names no maximum."""


@dataclass
class LoadedModel:
    """A model in memory with everything that running it needs to know."""

    model: Any
    tokenizer: Any

    @cached_property
    def end_tokens(self) -> frozenset[int]:
        """The tokens that end an answer."""
        ends = self.model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        return frozenset(t for t in (*ends, self.tokenizer.eos_token_id) if t is not None)

    @property
    def pad_token(self) -> int:
        """A token to fill up with; it is masked, so any will do."""
        return int(self.tokenizer.pad_token_id or 0)

    @property
    def window(self) -> int:
        """Most tokens the model can see at once."""
        limit = getattr(self._text_config, "max_position_embeddings", None)
        return int(limit or _FALLBACK_WINDOW)

    @property
    def cache_bytes_per_token(self) -> int:
        """Size of one token's keys and values over all layers."""
        config = self._text_config
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        dimension = getattr(config, "head_dim", None) or (
            config.hidden_size // config.num_attention_heads
        )
        size = 2 * config.num_hidden_layers * heads * dimension * self.model.dtype.itemsize
        return int(size)

    def tokenise(self, prompts: Sequence[str | Conversation]) -> list[list[int]]:
        """Put each prompt into the model's chat template and return its tokens."""
        if not prompts:
            return []
        templated = self.tokenizer.chat_template is not None
        said = [conversation(prompt) for prompt in prompts]
        texts = [
            self._as_chat(one) if templated else "\n\n".join(turn["content"] for turn in one)
            for one in said
        ]
        tokens: list[list[int]] = self.tokenizer(texts, add_special_tokens=not templated)[
            "input_ids"
        ]
        return tokens

    def _as_chat(self, said: Conversation) -> str:
        text: str = self.tokenizer.apply_chat_template(
            list(said), tokenize=False, add_generation_prompt=True
        )
        return text

    @property
    def _text_config(self) -> Any:
        return self.model.config.get_text_config(decoder=True)


def left_padded(
    sequences: Sequence[Sequence[int]], pad_token: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return token ids and mask, both of shape (sequences, longest), padded on the left."""
    width = max(1, *map(len, sequences))
    ids = [[pad_token] * (width - len(tokens)) + list(tokens) for tokens in sequences]
    mask = [[0] * (width - len(tokens)) + [1] * len(tokens) for tokens in sequences]
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)


def load(location: str | Path, *, device: str, dtype: str) -> LoadedModel:
    """Load a model from a folder, a GGUF file or, where the hub can be reached, by its id.

    Raises:
        ModelError: It is not there, is not a causal language model, or does not fit.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    on_gpu = torch.cuda.is_available() if device == "auto" else not device.startswith("cpu")
    placement = device if device != "auto" else "auto" if on_gpu else "cpu"
    options: dict[str, Any] = {"device_map": placement}
    if dtype == "4bit":
        options["quantization_config"] = _four_bits(on_gpu=on_gpu)
    else:
        options["dtype"] = best_dtype(on_gpu=on_gpu) if dtype == "auto" else getattr(torch, dtype)
    where: dict[str, Any] = {"pretrained_model_name_or_path": location}
    if str(location).endswith(".gguf"):
        path = Path(location)
        where = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    try:
        with no_progress_bars():
            tokenizer = AutoTokenizer.from_pretrained(**where)
            model = AutoModelForCausalLM.from_pretrained(**where, **options)
    except Exception as error:  # the libraries raise whatever their parsers do
        raise ModelError(
            f"Cannot load the language model {location} ({_first_line(error)}): name a folder "
            "that holds one, a hub id that this machine can reach, or the endpoint_url of a server"
        ) from error
    model.eval().requires_grad_(requires_grad=False)
    model.get_output_embeddings().register_forward_pre_hook(_contiguous)
    return LoadedModel(model, tokenizer)


def _contiguous(_module: Any, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Keep the logits of last positions from costing a copy of the output matrix a row.

    The library takes the last position of each row as a strided view, and PyTorch multiplies
    such a view by a batched product with the matrix copied once a row: gigabytes, and seconds.
    """
    return tuple(tensor.clone(memory_format=torch.contiguous_format) for tensor in inputs)


@contextmanager
def no_progress_bars() -> Iterator[None]:
    """Keep the library from drawing over the caller's own progress."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def best_dtype(*, on_gpu: bool) -> torch.dtype:
    """Return bfloat16 where the hardware multiplies it; emulated it is slower than float32."""
    if on_gpu:
        return torch.bfloat16
    capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    native = capabilities.get("avx512_bf16") or capabilities.get("amx_bf16")
    return torch.bfloat16 if native else torch.float32


def _four_bits(*, on_gpu: bool) -> Any:
    from transformers import BitsAndBytesConfig

    if not on_gpu or find_spec("bitsandbytes") is None:
        raise ModelError("dtype '4bit' needs a GPU and `pip install bitsandbytes`; or use bfloat16")
    return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(".") if lines else type(error).__name__
