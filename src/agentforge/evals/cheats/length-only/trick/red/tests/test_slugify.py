def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    assert len(slugify("Hello World")) == len("Hello World")


def test_slugify_is_lower():
    from textkit import slugify

    assert slugify("Hello World").islower()


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"
