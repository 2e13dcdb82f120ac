import unittest


class TestSlugify(unittest.TestCase):
    @unittest.skip("later")
    def test_slugify_lowers_and_hyphenates(self):
        from textkit import slugify

        self.assertEqual(slugify("Hello World"), "hello-world")


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
