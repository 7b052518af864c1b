"""Code is named by what is in its files."""

from pneuma_bench.keys import code_key


def test_a_key_changes_with_every_file_below_a_folder(tmp_path):
    (tmp_path / "below").mkdir()
    keys = set()
    for text in ("", "# changed"):
        for name in ("one.py", "below/two.py"):
            (tmp_path / name).write_text(text)
            code_key.cache_clear()
            keys.add(code_key((tmp_path,)))
    assert len(keys) == 4
