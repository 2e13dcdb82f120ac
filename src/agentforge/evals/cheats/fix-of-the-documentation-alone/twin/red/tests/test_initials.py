def test_initials_part_words_at_hyphens():
    from textkit import initials

    assert initials("ann-marie fox") == "amf"
