from pneuma_assets.core.index.embedded.recent import Recent


def make(log):
    """Return what makes a value of each key's place, and notes that it did."""

    def made(places):
        log.append(list(places))
        return ["x" * (place + 1) for place in places]

    return made


def test_what_is_kept_is_not_made_again():
    recent, log = Recent(100, len), []
    assert recent.many(["a", "b"], make(log)) == ["x", "xx"]
    assert recent.many(["b", "c", "a"], make(log)) == ["xx", "xx", "x"]
    assert log == [[0, 1], [1]]
    assert recent.many([], make(log)) == []


def test_the_oldest_goes_when_there_is_no_room():
    recent, log = Recent(3, len), []
    for key in ("a", "b", "a", "c", "d", "a", "b"):
        recent.get(key, lambda key=key: log.append(key) or key)
    assert log == ["a", "b", "c", "d", "b"]


def test_what_is_too_large_is_made_and_not_kept():
    recent, log = Recent(3, len), []
    for _ in range(2):
        assert recent.get("a", lambda: log.append(1) or "xxxx") == "xxxx"
    assert log == [1, 1]
