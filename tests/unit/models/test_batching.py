"""Batches whose size is searched, against memories of many sizes, which also change."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.errors import OutOfMemoryError
from pneuma_assets.core.models import batching
from pneuma_assets.core.models.batching import (
    PATIENCE,
    BatchSizer,
    is_out_of_memory,
    longest_first,
    run_batches,
)


def at_once(_seconds):
    """Do not wait."""


class Worker:
    """Works through batches, and runs out of memory above a number of padded tokens."""

    def __init__(self, sizes, capacity=None, finishes=0, error=MemoryError):
        self.sizes, self.capacity, self.finishes, self.error = sizes, capacity, finishes, error
        self.batches = []

    def __call__(self, batch):
        padded = len(batch) * max(self.sizes[position] for position in batch)
        fits = self.capacity is None or padded <= self.capacity
        self.batches.append((batch, fits))
        for done, position in enumerate(batch):
            if not fits and done >= self.finishes:
                raise self.error
            yield position, position * 10

    def padded(self):
        return [len(b) * max(self.sizes[p] for p in b) for b, _ in self.batches]


@pytest.fixture(autouse=True, scope="module")
def _quick():
    """Collecting what all tests before these have left takes longer than all else here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batching, "release_memory", lambda: None)
        yield


def everything(sizes, worker, sizer, **options):
    return list(run_batches(sizes, worker, sizer, **options))


@given(
    sizes=st.lists(st.integers(1, 50), max_size=60),
    max_batch=st.integers(1, 40),
    capacity=st.integers(50, 400),
    finishes=st.integers(0, 3),
    budget=st.none() | st.integers(1, 500),
    calm=st.integers(1, 4),
)
def test_nothing_is_lost_or_doubled(sizes, max_batch, capacity, finishes, budget, calm):
    worker = Worker(sizes, capacity, finishes)
    results = everything(sizes, worker, BatchSizer(max_batch, budget, calm), wait=at_once)
    assert sorted(results) == [(position, position * 10) for position in range(len(sizes))]
    assert all(len(batch) <= max_batch for batch, _ in worker.batches)


def test_batches_hold_similar_numbers_of_tokens():
    sizes = [100] * 10 + [10] * 100
    worker = Worker(sizes)
    everything(sizes, worker, BatchSizer(32))
    budget = 32 * sum(sizes) / len(sizes)
    assert all(padded <= budget for padded in worker.padded())
    assert all(padded > budget * 0.4 for padded in worker.padded()[:-1])
    assert [len(batch) for batch, _ in worker.batches[:2]] == [5, 5]
    assert len(worker.batches[2][0]) == 32


def test_a_token_budget_bounds_all_but_a_single_text():
    sizes = [30] * 50
    worker = Worker(sizes)
    everything(sizes, worker, BatchSizer(50, token_budget=100))
    assert max(worker.padded()) <= 100
    worker = Worker([500, 10, 10])
    assert len(everything([500, 10, 10], worker, BatchSizer(8, token_budget=100))) == 3
    assert worker.batches[0][0] == [0]


def test_longest_come_first_and_a_given_order_is_kept():
    sizes = [1, 3, 2, 3]
    assert longest_first(sizes) == [1, 3, 2, 0]
    worker = Worker(sizes)
    everything(sizes, worker, BatchSizer(1), order=[2, 0, 3, 1])
    assert [batch for batch, _ in worker.batches] == [[2], [0], [3], [1]]


def test_the_size_found_is_kept_for_the_next_call():
    sizer = BatchSizer(64, calm_batches=100)
    everything([1] * 100, Worker([1] * 100, capacity=8), sizer)
    again = Worker([1] * 100, capacity=8)
    everything([1] * 100, again, sizer)
    assert all(fits for _, fits in again.batches)


def test_memory_is_released_after_each_failure(monkeypatch):
    released, worker = [], Worker([1] * 8, capacity=2)
    monkeypatch.setattr(batching, "release_memory", lambda: released.append(1))
    everything([1] * 8, worker, BatchSizer(8))
    assert [len(batch) for batch, fits in worker.batches if not fits] == [8, 4, 3]
    assert len(released) == 3


def test_one_item_that_does_not_fit_is_an_error_with_a_remedy():
    with pytest.raises(OutOfMemoryError, match=r"900 tokens.*bfloat16"):
        everything([900, 1], Worker([900, 1], capacity=10), BatchSizer(8), wait=at_once)


def test_items_that_do_not_fit_are_told_and_the_rest_goes_on(monkeypatch):
    sizes = [3, 900, 2, 50, 1, 900]
    told, waited, released = [], [], []
    monkeypatch.setattr(batching, "release_memory", lambda: released.append(1))
    results = everything(
        sizes,
        Worker(sizes, capacity=10),
        BatchSizer(8),
        unfit=lambda position, error: told.append((position, str(error)[:23])),
        wait=waited.append,
    )
    assert sorted(position for position, _ in results) == [0, 2, 4]
    assert [position for position, _ in told] == [1, 5, 3]
    assert told[0][1] == "One text of 900 tokens "
    assert waited == list(PATIENCE), "many that do not fit are not waited for one by one"
    assert len(released) >= len(PATIENCE) + 3


def test_one_item_is_tried_again_when_memory_was_full_for_a_moment():
    failures = iter([MemoryError, MemoryError])
    waited = []

    def run(batch):
        if len(batch) == 1:
            for error in failures:
                raise error
        yield from ((position, position) for position in batch)

    told = []
    options = {"unfit": lambda *what: told.append(what), "wait": waited.append}
    results = everything([500, 1, 1], run, BatchSizer(2, token_budget=100), **options)
    assert sorted(results) == [(0, 0), (1, 1), (2, 2)]
    assert (waited, told) == (list(PATIENCE), [])


def test_other_errors_pass():
    with pytest.raises(RuntimeError, match="shape"):
        everything([1], Worker([1], 0, error=RuntimeError("shape mismatch")), BatchSizer(8))


def test_results_come_while_later_batches_wait():
    worker = Worker([1] * 10)
    results = run_batches([1] * 10, worker, BatchSizer(2))
    assert next(results)[1] is not None
    assert len(worker.batches) == 1


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), True),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"), True),
        (RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), True),
        (RuntimeError("cuDNN error: CUDNN_STATUS_NOT_SUPPORTED."), True),
        (RuntimeError("std::bad_alloc"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED"), False),
        (RuntimeError("size mismatch"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_what_counts_as_out_of_memory(error, expected):
    assert is_out_of_memory(error) is expected
    import torch

    assert is_out_of_memory(torch.OutOfMemoryError("anything"))
    assert is_out_of_memory(torch.cuda.OutOfMemoryError("anything"))


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
