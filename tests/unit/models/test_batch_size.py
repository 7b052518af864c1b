"""The search for the batch size against memories of many sizes, which also change."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.models.batching import BatchSizer, run_batches


class Memory:
    """Takes full batches of items of average length, and fails above its capacity."""

    def __init__(self, capacity, sizer):
        self.capacity, self.sizer, self.batches = capacity, sizer, []

    def work(self, batches, capacity=None):
        """Run some batches, and return the rows of those that fitted and of those that failed."""
        self.capacity = capacity or self.capacity
        done = []
        for _ in range(batches):
            done.append(int(self.sizer.size))
            if done[-1] > self.capacity:
                self.sizer.failed(done[-1])
            else:
                self.sizer.succeeded(done[-1], full=True)
        self.batches += done
        fitted = [rows for rows in done if rows <= self.capacity]
        return fitted, [rows for rows in done if rows > self.capacity]


@given(st.integers(2, 600), st.data())
def test_it_settles_at_what_fits_with_few_failures(max_batch, data):
    capacity = data.draw(st.integers(1, max_batch))
    memory = Memory(capacity, BatchSizer(max_batch))
    steps = math.ceil(math.log2(max_batch))
    fitted, failed = memory.work(400)
    probes = 6  # after 8, 16, 32, 64, 128 and 128 batches
    assert len(failed) <= steps + probes
    settled = sorted(fitted[2 * steps :])
    assert settled[0] > capacity / 1.05 - 1
    assert settled[len(settled) // 2] >= 0.95 * capacity


def test_what_fitted_and_what_failed_is_remembered():
    memory = Memory(21, BatchSizer(64))
    memory.work(20)
    assert memory.batches[:8] == [64, 32, 16, 24, 20, 22, 21, 21]


@pytest.mark.parametrize("capacity", [2, 3, 5, 7])
def test_small_batches_fail_seldom_once_the_size_is_found(capacity):
    memory = Memory(capacity, BatchSizer(128))
    memory.work(600)
    _, failed = memory.work(1_000)
    assert len(failed) <= 10


@given(before=st.integers(2, 256), between=st.integers(1, 256), after=st.integers(1, 256))
def test_it_follows_memory_that_others_take_and_give_back(before, between, after):
    memory = Memory(before, BatchSizer(256))
    for capacity in (before, between, after):
        _, failed = memory.work(400, capacity)
        assert len(failed) <= 2 * 8 + 6
        assert sorted(memory.batches[-100:])[50] >= 0.95 * capacity


def test_a_border_that_wavers_costs_few_failures():
    memory = Memory(20, BatchSizer(128))
    failures = 0
    for step in range(400):
        _, failed = memory.work(5, 20 + (step * 7 % 3 == 0))
        failures += len(failed) if step > 100 else 0
    assert failures <= 0.02 * 300 * 5


def test_what_is_known_is_converted_for_texts_of_another_length():
    sizer = BatchSizer(64)

    def run_of(tokens):
        batches = []

        def run(batch):
            batches.append(len(batch))
            if len(batch) * tokens > 1_000:
                raise MemoryError
            yield from ((position, None) for position in batch)

        list(run_batches([tokens] * 400, run, sizer, wait=lambda _: None))
        return batches

    assert run_of(50)[:4] == [64, 32, 16, 24]
    assert max(run_of(100)) <= 12  # not the 20 that fit of half the length
    longer = run_of(50)
    assert sum(rows > 20 for rows in longer) <= 3
    assert sorted(longer)[len(longer) // 2] >= 19
