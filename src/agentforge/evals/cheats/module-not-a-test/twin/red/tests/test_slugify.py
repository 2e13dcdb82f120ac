import textkit


class TestSlugify:
    def test_slugify_lowers_and_hyphenates(self):
        assert textkit.slugify("Hello World") == "hello-world"

    def test_slugify_joins_words_by_single_hyphens(self):
        assert textkit.slugify("  One   two THREE ") == "one-two-three"
