import tracemalloc
from contextlib import closing

from pneuma_assets.core.index.base import IndexQuery, TableContents
from pneuma_assets.core.index.cache import LruCache, key_of
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.tables import TableTerms


def make(log):
    """Return what makes a value of each key's place, and notes that it did."""

    def made(places):
        log.append(list(places))
        return ["x" * (place + 1) for place in places]

    return made


def test_what_is_kept_is_not_made_again():
    recent, log = LruCache(100, len), []
    assert recent.many(["a", "b"], make(log)) == ["x", "xx"]
    assert recent.many(["b", "c", "a"], make(log)) == ["xx", "xx", "x"]
    assert log == [[0, 1], [1]]
    assert recent.many([], make(log)) == []


def test_what_has_no_room_is_not_kept():
    recent, log = LruCache(3, len), []
    for key in ("a", "b", "a", "c", "d", "a", "b"):
        recent.get(key, lambda key=key: log.append(key) or key)
    assert log == ["a", "b", "c", "d", "b"]
    recent, log = LruCache(3, len), []
    for _ in range(2):
        assert recent.get("a", lambda: log.append(1) or "xxxx") == "xxxx"
    assert log == [1, 1]
    recent, log = LruCache(100, len, most=2), []
    for key in ("a", "b", "c", "c", "a"):
        recent.get(key, lambda key=key: log.append(key) or "")
    assert log == ["a", "b", "c", "a"]


def test_different_terms_have_different_keys():
    terms = [("rows", ["a", "b"]), ("rows", ["ab"]), ("rows", []), ("", ["a", "b"])]
    assert len({key_of(*one) for one in terms}) == len(terms)


def test_long_questions_take_no_more_memory_than_short_ones(tmp_path):
    """Their terms are not kept, only what they score."""
    with closing(EmbeddedIndex(tmp_path, "e", 4)) as index:
        index.replace_tables({"s/t": TableContents((), TableTerms(columns=("a",)))})

        def ask(number: int) -> None:
            words = [f"word{word}" for word in range(1_000)]  # known, but in another order
            text = " ".join(words[number:] + words[:number])
            index.search([IndexQuery(text, None, text)], 5)

        ask(0)
        tracemalloc.start()
        try:
            for number in range(1, 31):
                ask(number)
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert kept < 2_000_000
