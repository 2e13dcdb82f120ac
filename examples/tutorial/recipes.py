"""A few functions for recipes."""


def scale(amounts: dict[str, float], servings: int, wanted: int) -> dict[str, float]:
    """Return the amounts for another number of servings."""
    return {name: amount * wanted / servings for name, amount in amounts.items()}
