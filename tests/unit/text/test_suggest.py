"""The names that are nearest to one that does not exist."""

from pneuma_assets.core.text.suggest import nearest


def test_nearest_names():
    known = ["lake/a/penguins", "lake/b/penguins", "lake/economy", "x/y"]
    assert nearest("penguins", known) == ["lake/a/penguins", "lake/b/penguins"]
    towns = ["lake/brain", "lake/rain", "lake/rain_2", "lake/train"]
    assert nearest("Rain", towns) == ["lake/rain", "lake/brain", "lake/rain_2"]
    assert nearest("lake/econmy", known)[0] == "lake/economy"
    assert nearest("zzzzzzz", known) == []
    assert nearest("", known) == []
