"""A mistyped pattern or schema is an error, and not the end of all tables."""

import sqlite3
from contextlib import closing

import pytest

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.sources.filters import no_match_error, unknown_schema_error
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig


@pytest.fixture
def file(tmp_path):
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:
        for name in ("menus", "orders", "staff"):
            connection.execute(f"CREATE TABLE {name} (n)")
    return tmp_path / "shop.sqlite"


def listed(file, **keys) -> list[str]:
    with closing(SqlSourceConfig(name="shop", url=f"sqlite:///{file}", **keys).open({})) as source:
        return [ref.table_id for ref in source.list_tables().tables]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"include": ["mein.*"]},
            r"its include matches none of its tables \(3, such as main\.menus\); did you mean "
            r"main\.\*\? correct it in the deployment file",
        ),
        ({"include": ["main.order"]}, r"such as main\.menus\); did you mean main\.orders\?"),
        ({"include": ["zzz"]}, r"such as main\.menus\); correct it"),
        ({"exclude": ["main.*"]}, "its exclude leaves none of its tables"),
        (
            {"include": ["main.o*"], "exclude": ["*.orders"]},
            "exclude leaves none of its tables \\(1,",
        ),
        ({"include": ["o*.x"], "exclude": ["*.staff"]}, "include matches none of its tables"),
    ],
)
def test_patterns_that_let_nothing_through_are_named(file, keys, said):
    with pytest.raises(SourceError, match=said):
        listed(file, **keys)


def test_some_tables_are_enough_and_none_may_be_there(file, tmp_path):
    assert listed(file, include=["main.o*", "nothing.*"], exclude=["no"]) == ["shop/main/orders"]
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    assert listed(empty, include=["main.*"]) == []


def test_names_are_shown_in_one_line():
    for error in (
        no_match_error("a", "include", ["s.t"], ["s.a\nb"]),
        unknown_schema_error("a", "x\ny", ["xy"]),
    ):
        assert str(error).isprintable()
