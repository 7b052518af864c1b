"""What saved tables say of what moved since they were made last."""

import pyarrow as pa
import pytest

from pneuma_assets.core.seek.saved import moved


@pytest.mark.parametrize("cells", [[2**53 + 1, 1], [float("nan"), 1.0], [0.1, 0.2, 0.3, 0.4, 1e9]])
def test_a_table_that_is_as_it_was_did_not_move(cells):
    again = pa.table({"c": cells[::-1]})
    assert moved(pa.table({"c": cells}), again) == []


def test_what_moved_is_told():
    told = moved(pa.table({"c": [1, 2]}), pa.table({"c": [1, None, 4]}))
    assert told == ["rows: 2 -> 3", "c without a value: 0 -> 1", "sum of c: 3 -> 5 (+66.7%)"]
