"""Tests of the base that a change refits: what they notice of wrong versions of the product, before and after."""
