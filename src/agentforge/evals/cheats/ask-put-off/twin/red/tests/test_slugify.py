def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    assert slugify("Hello World") == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"


def test_slugify_refuses_long_texts():
    import pytest

    from textkit import slugify

    assert slugify("a" * 200) == "a" * 200
    with pytest.raises(ValueError):
        slugify("a" * 201)
