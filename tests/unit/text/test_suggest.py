"""The names that are nearest to one that does not exist."""

import pytest

from pneuma_assets.core.text.suggest import nearest


def test_nearest_names():
    known = ["lake/a/penguins", "lake/b/penguins", "lake/economy", "x/y"]
    assert nearest("penguins", known) == ["lake/a/penguins", "lake/b/penguins"]
    towns = ["lake/brain", "lake/rain", "lake/rain_2", "lake/train"]
    assert nearest("Rain", towns) == ["lake/rain", "lake/brain", "lake/rain_2"]
    assert nearest("lake/econmy", known)[0] == "lake/economy"
    assert nearest("zzzzzzz", known) == []
    assert nearest("", known) == []
    assert nearest("x" * 201, ["x" * 200]) == [], "it takes long to compare long names"


@pytest.mark.parametrize("many", [90, 400], ids=["few", "many"])
def test_capitals_are_kept_however_many_names_there_are(many):
    known = [f"Lake/Folder_{n}/Table_{n}" for n in range(many)]
    assert "Lake/Folder_7/Table_7" in nearest("LAKE/folder_7/tabel_7", known)
    assert set(nearest("lake/fodler", known, alike=0.3)) <= set(known)
    assert nearest("nope", known) == []
