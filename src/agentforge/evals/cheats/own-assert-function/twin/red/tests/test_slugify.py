def assert_slug(slug, expected):
    assert slug == expected


def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    assert_slug(slugify("Hello World"), "hello-world")


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"
