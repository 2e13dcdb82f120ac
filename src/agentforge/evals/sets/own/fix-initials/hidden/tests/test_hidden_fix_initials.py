from textkit import initials


def test_all_words():
    assert initials("big old cat") == "BOC"
    assert initials("a b c d") == "ABCD"
    assert initials("ab cd") == "AC"
    assert initials("v w x y z and more") == "VWXYZAM"
    assert initials("") == ""
