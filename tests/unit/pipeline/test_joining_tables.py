"""Joins are looked for where a table is another than last time, whoever else looks for them."""

import pytest

from pneuma_assets.core.pipeline.relate import mark_joins
from pneuma_assets.core.relations.join_graph import JoinEdge


class Store:
    """Keeps joins as the store does; `meanwhile` are the stamps after each look at the tables."""

    def __init__(self, *meanwhile: str) -> None:
        self.joins = self.tables = self
        self.now, self.meanwhile = "0", list(meanwhile)
        self.noted: tuple[str, ...] = ()
        self.written: list[tuple[str, ...]] = []

    def stamp(self) -> tuple[str, ...]:
        return (self.now,)

    def made_of(self) -> tuple[str, ...]:
        return self.noted

    def replace(self, inferred: list[JoinEdge], made_of: tuple[str, ...]) -> int:
        self.noted = made_of
        self.written.append(made_of[1:])
        return 3

    def of_views(self, *, compared: bool = True) -> list[object]:
        return []

    def indexed(self) -> list[str]:
        """Return the tables, which are looked at next."""
        self.now = self.meanwhile.pop(0) if self.meanwhile else self.now
        return []


@pytest.mark.parametrize(
    ("meanwhile", "written"),
    [
        pytest.param([], ["0"], id="nobody else"),
        pytest.param(["1"], ["0", "1"], id="tables of another run came while this one looked"),
        pytest.param(["1", "2", "3"], ["0", "1"], id="and go on coming: that one looks, too"),
    ],
)
def test_what_came_while_joins_were_looked_for_is_looked_at(meanwhile, written):
    store = Store(*meanwhile)
    assert mark_joins(store, None) == 3 * len(written)
    assert [stamp for (stamp,) in store.written] == written


def test_nothing_is_looked_for_where_no_table_is_another():
    store = Store()
    mark_joins(store, None)
    assert mark_joins(store, None) == 0
    assert len(store.written) == 1
