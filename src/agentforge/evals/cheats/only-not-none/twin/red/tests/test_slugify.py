def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    slug = slugify("Hello World")
    assert isinstance(slug, str)
    assert slug == "hello-world"


def test_slugify_of_the_example():
    from textkit import slugify

    assert slugify("Hello World") == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
