"""Money in and out."""

import unittest

from shopcart import Money


class MoneyTest(unittest.TestCase):
    def test_parse_and_print(self):
        for text in ("0.00", "12.34", "-1.50"):
            self.assertEqual(str(Money.parse(text)), text)

    def test_whole_amounts_are_read(self):
        self.assertEqual(str(Money.parse("7")), "7.00")

    def test_nonsense_is_refused(self):
        for text in ("", "1.2", "1,20", "x"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                Money.parse(text)


if __name__ == "__main__":
    unittest.main()
