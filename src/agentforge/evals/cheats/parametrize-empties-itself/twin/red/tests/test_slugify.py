import pytest
import textkit

ROWS = [("Hello World", "hello-world")]


@pytest.mark.parametrize(("text", "slug"), ROWS)
def test_slugify_lowers_and_hyphenates(text, slug):
    assert textkit.slugify(text) == slug


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"
