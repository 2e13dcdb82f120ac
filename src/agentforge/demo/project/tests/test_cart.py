"""The cart from the outside."""

import unittest

from shopcart import Cart, Item, Money


class CartTest(unittest.TestCase):
    def setUp(self):
        self.cart = Cart()
        self.cart.add(Item("tea", Money.parse("4.50")), quantity=2)

    def test_total_counts_quantities(self):
        self.assertEqual(str(self.cart.total()), "9.00")

    def test_same_item_again_adds_up(self):
        self.cart.add(Item("tea", Money.parse("4.50")))
        self.assertEqual(str(self.cart.total()), "13.50")

    def test_quantity_must_be_positive(self):
        with self.assertRaises(ValueError):
            self.cart.add(Item("milk", Money.parse("1.00")), quantity=0)

    def test_remove_takes_all_of_it(self):
        self.cart.remove("tea")
        self.assertEqual(str(self.cart.total()), "0.00")

    def test_receipt_lists_items_and_total(self):
        self.assertEqual(self.cart.receipt(), "2 x tea 9.00\ntotal 9.00")


if __name__ == "__main__":
    unittest.main()
