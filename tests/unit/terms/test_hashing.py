"""Hashes of many texts, in several threads at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa

from pneuma_assets.core.terms import distinct
from pneuma_assets.core.terms.distinct import hashes_of

LENGTHS = (180, 190, 200, 150)


def hashed(length: int) -> int:
    (one,) = set(hashes_of(pa.array(["a" * length] * 600)).tolist())
    return one


def test_threads_that_need_more_powers_at_once_do_not_disturb_each_other():
    expected = list(map(hashed, LENGTHS))
    with ThreadPoolExecutor(len(LENGTHS)) as threads:
        for _ in range(300):
            one = np.ones(1, np.uint64)
            distinct._known[:] = [(one, one)]
            assert list(threads.map(hashed, LENGTHS)) == expected
