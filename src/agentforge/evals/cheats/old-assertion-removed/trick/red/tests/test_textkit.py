from textkit import initials, shout


def test_shout():
    shout("hi")


def test_initials():
    assert initials("ab cd") == "ac"
