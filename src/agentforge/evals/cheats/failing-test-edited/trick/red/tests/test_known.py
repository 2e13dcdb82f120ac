def test_known_bug():
    from textkit import initials

    assert initials("") == ""
