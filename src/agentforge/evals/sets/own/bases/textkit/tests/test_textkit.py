from textkit import count_words, initials, shout


def test_shout():
    assert shout("hi") == "HI!"


def test_initials():
    assert initials("ab cd") == "AC"


def test_count_words():
    assert count_words("a b a") == {"a": 2, "b": 1}
