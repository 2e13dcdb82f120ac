from textkit import title


def test_small_words():
    assert title("the lord OF the rings") == "The Lord of the Rings"
    assert title("salt AND pepper") == "Salt and Pepper"
    assert title("and so on") == "And So On"


def test_others():
    assert title("") == ""
    assert title("theory OFTEN wins") == "Theory Often Wins"
