"""Code is named by what is in its files."""

import pytest

from pneuma_bench.keys import code_key


def test_a_key_changes_with_every_file_below_a_package(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "named_by_key"
    (package / "below").mkdir(parents=True)
    for name in ("__init__.py", "one.py", "below/__init__.py", "below/two.py"):
        (package / name).write_text("")
    keys = set()
    for name in ("one.py", "below/two.py", "below/three.py"):
        (package / name).write_text(f"# {name}")
        code_key.cache_clear()
        keys.add(code_key(("named_by_key",)))
    (package / "one.py").write_text("")
    assert len(keys | {code_key(("named_by_key.one",))}) == 4


@pytest.mark.parametrize("name", ["pneuma_assets.core.gone", "pneuma_assets.gone.too", "nowhere"])
def test_what_is_not_there_is_told_and_not_taken_for_nothing(name):
    with pytest.raises(ModuleNotFoundError, match=name.rpartition(".too")[0] or name):
        code_key((name,))
