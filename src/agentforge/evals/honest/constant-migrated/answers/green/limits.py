"""Limits of the shop."""

MAX_BASKET_ITEMS = 20
MAX_NAME_LENGTH = 40
