"""What events keep of rows, however large these are."""

import pyarrow as pa

from pneuma_assets.core.seek.conversation import made_event, result_event
from pneuma_assets.core.seek.results import Made, QueryResult
from pneuma_assets.core.seek.state import State
from pneuma_assets.core.store.conversations import MOST_BYTES, _text


def test_rows_of_long_cells_fit_into_an_event():
    texts = pa.table({f"c{at}": ["x" * 200_000] * 12 for at in range(40)})
    made = [Made(name, texts) for name in "abcdefgh"]
    event = made_event(State(), made, "ana")
    assert "c39" in event.cells["columns"]["a"]
    assert "c39" not in _text(event.data), "a pivot makes names of cells"
    assert len(_text(event.cells)) < MOST_BYTES
    assert [len(event.cells["samples"][name]) for name in "ah"] == [10, 0]
    rows = tuple(("y" * 100_000, at) for at in range(50))
    event = result_event(State(), [QueryResult(name, ("t", "n"), rows, False) for name in "ab"], "")
    assert len(_text(event.cells)) < MOST_BYTES
    assert [(one["rows"], one["more"]) for one in event.data["queries"]] == [(2, True)] * 2
