import pytest


@pytest.mark.parametrize("text, slug", [("Hello World", "hello-world"), ("A b", "a-b")])
def test_slugify_lowers_and_hyphenates(text, slug):
    from textkit import slugify

    assert slugify(text) == slug


def test_slugify_of_the_example():
    from textkit import slugify

    assert slugify("Hello World") == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
