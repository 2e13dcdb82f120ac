from tagging import with_tag


def test_a_tag_is_added():
    assert with_tag("b", ["a"]) == ["a", "b"]
