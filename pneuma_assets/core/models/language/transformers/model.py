"""Language models of the transformers library, on a GPU or on the CPU."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.extras import require
from pneuma_assets.core.hardware import usable_cores
from pneuma_assets.core.models.base import Conversation, Generation, with_size
from pneuma_assets.core.models.batching import BatchSizer, release_memory, run_batches
from pneuma_assets.core.models.language.answers import NO_WORDS, YES_WORDS, cut_at, stop_test
from pneuma_assets.core.models.language.transformers.prefixes import group_by_prefix
from pneuma_assets.core.models.usage import note
from pneuma_assets.core.progress import working

if TYPE_CHECKING:
    from pneuma_assets.core.models.language.transformers.loading import LoadedModel

_CPU_TOKENS_PER_CORE = 256
"""Read at once when judging: more do not fit the caches and take up to three times as long."""

_CPU_CACHE_BYTES = 768 * 2**20
"""Bound on a batch's keys and values in the host's memory: too much is not refused there, it
swaps or gets the process killed."""


_log = logging.getLogger(__name__)


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
        """Most tokens of a prompt and its answer; the model is loaded for it."""
        return self._loaded.window

    @cached_property
    def sizer(self) -> BatchSizer:
        """The batch size for narrating, searched across calls; its history shows how it went."""
        budget = None
        if self._loaded.model.device.type == "cpu":
            budget = max(2048, _CPU_CACHE_BYTES // self._loaded.cache_bytes_per_token)
        return BatchSizer(self._max_batch, budget)

    @cached_property
    def _judging_sizer(self) -> BatchSizer:
        budget = None
        if self._loaded.model.device.type == "cpu":
            budget = _CPU_TOKENS_PER_CORE * usable_cores()
        return BatchSizer(self._max_batch, budget)

    def generate(
        self,
        prompts: Sequence[str | Conversation],
        max_new_tokens: int,
        stop: Sequence[str] = (),
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002  # it binds nothing
    ) -> Iterator[Generation]:
        """Yield one greedy answer a prompt, as they finish, in any order.

        In float32 answers equal those of prompts run one at a time, but for ties in the last
        digits of the logits. In bfloat16 they do not: what else is in the batch decides how sums
        are rounded, and of 36 descriptions 17 came out word for word as alone.
        """
        loaded = self._loaded  # first of all, as it says that there is something to wait for
        from pneuma_assets.core.models.language.transformers.decoding import GreedyDecoder

        def text(written: Sequence[int]) -> str:
            decoded: str = loaded.tokenizer.decode(written, skip_special_tokens=True)
            return decoded

        decoder = GreedyDecoder(
            loaded.model, loaded.end_tokens, loaded.pad_token, stop_test(stop, text)
        )
        tokens = loaded.tokenise(prompts, reserve=max_new_tokens)
        note(len(tokens), sum(map(len, tokens)))
        sizes = [len(ids) + max_new_tokens for ids in tokens]

        def run(batch: list[int]) -> Iterator[tuple[int, list[int]]]:
            for row, written in decoder.decode([tokens[item] for item in batch], max_new_tokens):
                yield batch[row], written

        unfit: list[Generation] = []
        batches = run_batches(
            sizes,
            run,
            self.sizer,
            order=_order(tokens),
            unfit=lambda index, error: unfit.append(Generation(index, "", str(error))),
        )
        for index, written in batches:
            note(written=len(written))
            answer = text(written)
            kept = cut_at(answer, stop)
            yield Generation(index, kept, whole=len(written) < max_new_tokens or kept != answer)
        if unfit and len(unfit) == len(prompts):
            self._check_room()
        yield from unfit

    def yes_probability(self, prompts: Sequence[str]) -> list[float | None]:
        """Return P(yes) / (P(yes) + P(no)) for the first token after each prompt, in order."""
        loaded = self._loaded
        import torch

        from pneuma_assets.core.models.language.transformers.decoding import left_padded

        yes = sorted(loaded.first_tokens(YES_WORDS) - loaded.first_tokens(NO_WORDS))
        no = sorted(loaded.first_tokens(NO_WORDS) - loaded.first_tokens(YES_WORDS))
        tokens = loaded.tokenise(prompts, reserve=1)
        note(len(tokens), sum(map(len, tokens)), len(tokens))

        def run(batch: list[int]) -> Iterator[tuple[int, float]]:
            ids, mask = left_padded(
                [tokens[item] for item in batch], loaded.pad_token, loaded.model.device
            )
            positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
            with torch.no_grad():
                logits = (
                    loaded.model(
                        input_ids=ids,
                        attention_mask=mask,
                        position_ids=positions,
                        use_cache=False,
                        logits_to_keep=1,
                    )
                    .logits[:, -1]
                    .float()
                )
            odds = logits[:, yes].logsumexp(dim=1) - logits[:, no].logsumexp(dim=1)
            yield from zip(batch, torch.sigmoid(odds).tolist(), strict=True)

        answers: list[float | None] = [None] * len(prompts)
        batches = run_batches(
            [len(ids) for ids in tokens],
            run,
            self._judging_sizer,
            unfit=lambda index, error: _log.warning("Candidate %d is not judged: %s", index, error),
        )
        for index, value in batches:
            answers[index] = value
        if prompts and all(answer is None for answer in answers):
            self._check_room()
        return answers

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


def _order(tokens: Sequence[Sequence[int]]) -> list[int]:
    """Return the prompts longest first, those that share a beginning still side by side."""
    groups = group_by_prefix(tokens)
    longest = [max(len(tokens[item]) for item in range(g.start, g.stop)) for g in groups]
    ordered = sorted(range(len(groups)), key=lambda number: -longest[number])
    return [item for g in ordered for item in range(groups[g].start, groups[g].stop)]
