from tagging import with_tag


def test_calls_share_nothing():
    with_tag("a")
    assert with_tag("b") == ["b"]


def test_what_is_passed_in_stays():
    given = ["x"]
    assert with_tag("a", given) == ["x", "a"]
    assert given == ["x"]
