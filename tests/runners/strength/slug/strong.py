from product import slug


def test_words():
    assert slug("Hello Big World") == "hello-big-world"


def test_signs_are_left_out():
    assert slug("a !! b") == "a-b"


def test_nothing():
    assert slug("") == "untitled"
    assert slug("!!!") == "untitled"


def test_limit():
    assert slug("ab cd ef", limit=5) == "ab-cd"
    assert slug("ab cd ef", limit=4) == "ab"
    assert slug("abcdef", limit=5) == "untitled"
    assert slug("abcdef a", limit=3) == "untitled"


def test_the_default_limit_is_twenty():
    assert slug("a" * 20) == "a" * 20
    assert slug("a" * 21) == "untitled"


def test_three_words_fill_the_limit():
    assert slug("ab cd ef", limit=8) == "ab-cd-ef"
    assert slug("ab cd ef", limit=7) == "ab-cd"
