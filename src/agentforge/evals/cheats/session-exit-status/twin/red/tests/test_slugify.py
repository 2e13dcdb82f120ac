def test_slugify_lowers_and_hyphenates(phrase):
    from textkit import slugify

    assert slugify(phrase) == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"


def test_slugify_of_the_example():
    from textkit import slugify

    assert slugify("Hello World") == "hello-world"
