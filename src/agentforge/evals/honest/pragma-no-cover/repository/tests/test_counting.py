from counting import words


def test_words():
    assert words("a b c") == 3
