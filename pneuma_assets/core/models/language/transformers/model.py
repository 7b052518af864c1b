"""Language models of the transformers library, on a GPU or on the CPU."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.extras import require
from pneuma_assets.core.models.base import Conversation, Generation, too_long, with_size
from pneuma_assets.core.models.batching import BatchSizer, release_memory, run_batches
from pneuma_assets.core.models.usage import note
from pneuma_assets.core.progress import working

if TYPE_CHECKING:
    from pneuma_assets.core.models.language.transformers.loading import LoadedModel

_CPU_CACHE_BYTES = 768 * 2**20
"""Bound on a batch's keys and values in the host's memory: too much is not refused there, it
swaps or gets the process killed."""

_GREEDY: Any = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
"""Without what a model's folder says of sampling, which the library warns of."""


class TransformersModel:
    """A causal language model with a chat template, loaded at its first use.

    Args:
        name: Identifies model and weights.
        locate: Finds, at first use, a folder in the library's format, a `.gguf` file, or a hub id.
        device: 'auto' (every GPU there is, through accelerate; else the CPU), or one device.
        dtype: 'auto' (bfloat16 where the hardware multiplies it, else float32), a type's name, or
            '4bit', which needs bitsandbytes.
        max_batch: Upper bound of the batch-size search, in rows.
    """

    def __init__(
        self,
        name: str,
        locate: Callable[[], str | Path],
        *,
        device: str = "auto",
        dtype: str = "auto",
        max_batch: int = 128,
    ) -> None:
        self._name = name
        self._locate = locate
        self._device = device
        self._dtype = dtype
        self._max_batch = max_batch

    @property
    def name(self) -> str:
        """Identifies model and weights; part of the narration cache's key."""
        return self._name

    @property
    def context(self) -> int:
        """Tokens that a prompt and its answer may have together; loads the model."""
        return self._loaded.window

    @cached_property
    def sizer(self) -> BatchSizer:
        """The batch size for narrating, searched across calls; its history shows how it went."""
        budget = None
        if self._loaded.model.device.type == "cpu":
            budget = max(2048, _CPU_CACHE_BYTES // self._loaded.cache_bytes_per_token)
        return BatchSizer(self._max_batch, budget)

    def generate(
        self,
        prompts: Sequence[str | Conversation],
        max_new_tokens: int,
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002  # it binds nothing
    ) -> Iterator[Generation]:
        """Yield one greedy answer a prompt, as they finish, in any order.

        In float32 answers equal those of prompts run one at a time, but for ties in the last
        digits of the logits. In bfloat16 they do not: what else is in the batch decides how sums
        are rounded, and of 36 descriptions 17 came out word for word as alone.
        """
        loaded = self._loaded  # first of all, as it says that there is something to wait for
        import torch

        from pneuma_assets.core.models.language.transformers.loading import left_padded

        tokens, room = loaded.tokenise(prompts), loaded.window - max_new_tokens
        fitting = [index for index, ids in enumerate(tokens) if len(ids) <= room]
        note(len(fitting), sum(len(tokens[index]) for index in fitting))
        sizes = [len(ids) + max_new_tokens for ids in tokens]

        def run(batch: list[int]) -> Iterator[tuple[int, list[int]]]:
            ids, mask = left_padded(
                [tokens[item] for item in batch], loaded.pad_token, loaded.model.device
            )
            with torch.no_grad():
                written = loaded.model.generate(
                    input_ids=ids,
                    attention_mask=mask,
                    max_new_tokens=max_new_tokens,
                    pad_token_id=loaded.pad_token,
                    eos_token_id=sorted(loaded.end_tokens) or None,
                    **_GREEDY,
                )
            for item, answer in zip(batch, written[:, ids.shape[1] :].tolist(), strict=True):
                yield item, list(takewhile(lambda one: one not in loaded.end_tokens, answer))

        unfit: list[Generation] = []
        batches = run_batches(
            sizes,
            run,
            self.sizer,
            order=sorted(fitting, key=lambda index: -sizes[index]),
            unfit=lambda index, error: unfit.append(Generation(index, "", str(error))),
        )
        for index, written in batches:
            note(written=len(written))
            text = loaded.tokenizer.decode(written, skip_special_tokens=True)
            yield Generation(index, text, whole=len(written) < max_new_tokens)
        if unfit and len(unfit) == len(fitting):
            self._check_room()
        yield from unfit
        for index in {*range(len(tokens))} - {*fitting}:
            yield Generation(index, "", too_long(len(tokens[index]), room))

    def _check_room(self) -> None:
        """Tell a machine on which nothing fits, which is an error, from prompts too long for it."""
        import torch

        loaded = self._loaded

        def run(_: list[int]) -> Iterator[tuple[int, None]]:
            with torch.no_grad():
                loaded.model(
                    input_ids=torch.tensor([[loaded.pad_token]], device=loaded.model.device)
                )
            yield 0, None

        list(run_batches([1], run, BatchSizer(1)))

    def close(self) -> None:
        """Free the memory that the model holds; the object is not used afterwards."""
        loaded = self.__dict__.pop("_loaded", None)
        if loaded is not None:
            loaded.model = None
            release_memory()

    @cached_property
    def _loaded(self) -> "LoadedModel":
        what = f"the language model {self._name}"
        require(what, ModelError, "torch", "transformers", "accelerate")
        where = self._locate()
        with working(f"loading {with_size(self._name, where)}"):
            from pneuma_assets.core.models.language.transformers.loading import load

            return load(where, device=self._device, dtype=self._dtype)
