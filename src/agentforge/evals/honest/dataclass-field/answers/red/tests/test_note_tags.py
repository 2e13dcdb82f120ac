from notes import Note


def test_tags_are_empty_by_default():
    assert Note("a", "b").tags == ()


def test_tags_are_the_last_field():
    assert Note("a", "b", ("x",)).tags == ("x",)
    assert Note("a", "b", tags=("x", "y")) != Note("a", "b")
