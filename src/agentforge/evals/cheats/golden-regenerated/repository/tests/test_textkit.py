from textkit import initials


def test_initials():
    assert initials("ab cd") == "ac"
