def test_initials_of_two_words():
    from textkit import initials

    assert initials("ann fox") == "af"
