"""Greedy decoding of many prompts at once that reads a shared beginning once.

A batch holds several groups of prompts, each with its own shared prefix (a table's instruction
and schema). The prefixes are read once a group, their keys and values copied to the group's rows,
the rest of each prompt read in one more pass, and then all rows write their answers together. A
row that ends leaves the batch at once, so the steps that follow cost less.

Sequences are padded on the left twice, before the prefix and between prefix and rest; the padding
is masked and does not count in the positions, so a row computes what it would compute alone but
for rounding: in float32 that practically never decides a word, in bfloat16 it often does.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers.cache_utils import DynamicCache

from pneuma_assets.core.models.language.transformers.prefixes import PrefixGroup, group_by_prefix


@dataclass(slots=True)
class _Rows:
    """The rows still writing: which prompt each is, what it wrote, and where it stands."""

    prompts: list[int]
    mask: torch.Tensor  # (rows, tokens in the cache), 1 where a real token stands
    positions: torch.Tensor  # (rows,), of each row's last token
    written: list[list[int]] = field(default_factory=list)

    def keep(self, rows: Sequence[int]) -> None:
        index = torch.tensor(rows, device=self.mask.device)
        self.mask, self.positions = self.mask[index], self.positions[index]
        self.prompts = [self.prompts[row] for row in rows]
        self.written = [self.written[row] for row in rows]


class GreedyDecoder:
    """Answers batches of tokenised prompts with a causal language model of transformers.

    Args:
        model: The model.
        end_tokens: Any of these ends an answer and is not part of it.
        pad_token: Fills what is masked.
        ended: Tells from an answer's tokens whether it ends here.
    """

    def __init__(
        self,
        model: Any,
        end_tokens: frozenset[int],
        pad_token: int,
        ended: Callable[[Sequence[int]], bool] = lambda _: False,
    ) -> None:
        self._model = model
        self._end = end_tokens
        self._pad = pad_token
        self._ended = ended

    def decode(
        self, prompts: Sequence[Sequence[int]], max_new_tokens: int
    ) -> Iterator[tuple[int, list[int]]]:
        """Yield (position of the prompt, tokens of the answer) as the rows end."""
        cache, rows, tokens = self._read(prompts, max_new_tokens)
        for step in range(1, max_new_tokens + 1):
            ended = self._append(rows, tokens.tolist(), last=step == max_new_tokens)
            for row in ended:
                yield rows.prompts[row], rows.written[row]
            if len(ended) == len(rows.prompts):
                return
            if ended:
                kept = [row for row in range(len(rows.prompts)) if row not in ended]
                places = torch.tensor(kept, device=tokens.device)
                tokens = tokens[places]
                cache.batch_select_indices(places)
                rows.keep(kept)
            rows.positions = rows.positions + 1
            rows.mask = torch.nn.functional.pad(rows.mask, (0, 1), value=1)
            tokens = self._step(tokens[:, None], rows.mask, rows.positions[:, None], cache)

    def _read(
        self, prompts: Sequence[Sequence[int]], max_new_tokens: int
    ) -> tuple[DynamicCache, _Rows, torch.Tensor]:
        """Read all prompts; return the cache, the rows and each row's first answer token."""
        groups = self._groups(prompts, max_new_tokens)
        members = [
            number for number, group in enumerate(groups) for _ in range(group.start, group.stop)
        ]
        heads = [prompts[group.start][: group.shared] for group in groups]
        tails = [
            prompt[len(heads[member]) :] for prompt, member in zip(prompts, members, strict=True)
        ]
        cache = DynamicCache(config=self._model.config)
        head_ids, head_mask = self._padded(heads)
        self._step(head_ids, head_mask, _positions(head_mask), cache)
        cache.batch_select_indices(torch.tensor(members, device=head_ids.device))
        tail_ids, tail_mask = self._padded(tails)
        mask = torch.cat([head_mask[members], tail_mask], dim=1)
        positions = _positions(mask)[:, head_mask.shape[1] :]
        tokens = self._step(tail_ids, mask, positions, cache)
        rows = _Rows(list(range(len(prompts))), mask, positions[:, -1], [[] for _ in prompts])
        return cache, rows, tokens

    def _groups(self, prompts: Sequence[Sequence[int]], max_new_tokens: int) -> list[PrefixGroup]:
        """Group the prompts; each for itself where a sliding window is shorter than they are.

        Such a window counts the padding between prefix and rest, and would see less of the
        prefix. A prompt for itself has a rest of one token and no padding there.
        """
        config = self._model.config.get_text_config(decoder=True)
        window = getattr(config, "sliding_window", None)
        if window is None or 2 * max(map(len, prompts)) + max_new_tokens <= window:
            return group_by_prefix(prompts)
        return [PrefixGroup(at, at + 1, len(prompt) - 1) for at, prompt in enumerate(prompts)]

    def _append(self, rows: _Rows, tokens: list[int], *, last: bool) -> list[int]:
        """Add each row's new token; return the rows that end with it."""
        ended = []
        for row, token in enumerate(tokens):
            if token in self._end:
                ended.append(row)
                continue
            rows.written[row].append(token)
            if last or self._ended(rows.written[row]):
                ended.append(row)
        return ended

    def _step(
        self, ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor, cache: DynamicCache
    ) -> torch.Tensor:
        """Run the model on new tokens; return the best next token of each row."""
        with torch.no_grad():
            output = self._model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=positions,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
            best: torch.Tensor = output.logits[:, -1].argmax(dim=-1)
            return best

    def _padded(self, sequences: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        return left_padded(sequences, self._pad, self._model.device)


def left_padded(
    sequences: Sequence[Sequence[int]], pad_token: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return token ids and mask, both of shape (sequences, longest), padded on the left."""
    width = max(1, *map(len, sequences))
    ids = [[pad_token] * (width - len(tokens)) + list(tokens) for tokens in sequences]
    mask = [[0] * (width - len(tokens)) + [1] * len(tokens) for tokens in sequences]
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)


def _positions(mask: torch.Tensor) -> torch.Tensor:
    """Return the position of each token, padding not counted."""
    return (mask.cumsum(dim=1) - 1).clamp(min=0)
