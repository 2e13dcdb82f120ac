def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    slugify("Hello World")


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ")
