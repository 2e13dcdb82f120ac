from text_tools.everything import shorten, slug


def test_slug():
    assert slug("A  b!") == "a-b"


def test_shorten():
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("abc", 4) == "abc"
