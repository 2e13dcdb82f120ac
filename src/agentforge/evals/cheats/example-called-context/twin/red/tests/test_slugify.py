def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    assert slugify("Hello World") == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"


def test_slugify_parts_words_at_underscores():
    from textkit import slugify

    assert slugify("one_two") == "one-two"
