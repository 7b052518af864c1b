"""A key-value cache that is written in place and gives up finished rows at no cost.

The library's `DynamicCache` copies every key and value at each token, and again when a row
leaves the batch; for a small model on a CPU that is as much work as the model itself.
"""

from collections.abc import Sequence
from typing import Any

import torch
from transformers.cache_utils import DynamicCache, DynamicLayer


class PreallocatedLayer(DynamicLayer):  # type: ignore[misc]  # the library is untyped
    """One layer's keys and values, shape (rows, heads, capacity, head dimension).

    `keys` and `values` are views of the part in use, so everything that reads them works.
    """

    def __init__(self, layer: DynamicLayer, rows: torch.Tensor, capacity: int) -> None:
        super().__init__()
        self.lazy_initialization(layer.keys, layer.values)
        self._used = layer.keys.shape[-2]
        self._key_buffer = _expanded(layer.keys, rows, capacity)
        self._value_buffer = _expanded(layer.values, rows, capacity)
        self._show(len(rows))

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the new tokens behind the old ones; return all of them."""
        rows, _heads, length, _dimension = key_states.shape
        end = self._used + length
        self._key_buffer[:rows, :, self._used : end] = key_states
        self._value_buffer[:rows, :, self._used : end] = value_states
        self._used = end
        self._show(rows)
        return self.keys, self.values

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep these rows; only those whose place changes are copied.

        `indices` must come from `rows_after_dropping`: what moves, moves from behind the end.
        """
        places = torch.arange(len(indices), device=indices.device)
        moved = indices != places
        if bool(moved.any()):
            for buffer in (self._key_buffer, self._value_buffer):
                buffer[places[moved], :, : self._used] = buffer[indices[moved], :, : self._used]
        self._show(len(indices))

    def _show(self, rows: int) -> None:
        self.keys = self._key_buffer[:rows, :, : self._used]
        self.values = self._value_buffer[:rows, :, : self._used]


def expand_cache(cache: DynamicCache, rows: Sequence[int], capacity: int) -> None:
    """Give each row of a new batch a copy of an old row's keys and values.

    Args:
        cache: Filled with the shared prefixes, one a row.
        rows: For each row of the new batch, the old row it starts from.
        capacity: Most tokens that a row will ever hold.
    """
    for number, layer in enumerate(cache.layers):
        index = torch.tensor(rows, device=layer.keys.device)
        if type(layer) is DynamicLayer:
            cache.layers[number] = PreallocatedLayer(layer, index, capacity)
        else:  # Sliding windows and the like keep their own ways.
            layer.batch_select_indices(index)


def rows_after_dropping(rows: int, dropped: Sequence[int]) -> list[int]:
    """Return the old places of the rows that stay; the last ones fill the gaps."""
    gone = set(dropped)
    left = rows - len(gone)
    movers = [row for row in range(left, rows) if row not in gone]
    return [movers.pop() if row in gone else row for row in range(left)]


def _expanded(states: torch.Tensor, rows: torch.Tensor, capacity: int) -> torch.Tensor:
    _, heads, used, dimension = states.shape
    buffer = states.new_empty((len(rows), heads, capacity, dimension))
    buffer[:, :, :used] = states[rows]
    return buffer
