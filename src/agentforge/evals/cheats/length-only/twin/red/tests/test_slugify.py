def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    slug = slugify("Hello World")
    assert len(slug) == len("Hello World")
    assert slug == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"
