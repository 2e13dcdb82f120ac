SHARED = {"Hello World": "hello-world"}


def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    assert slugify("Hello World") == SHARED["Hello World"]


def test_slug_is_kept():
    from textkit import slugify

    assert slugify(slugify("Hello World")) == SHARED["Hello World"]


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"
