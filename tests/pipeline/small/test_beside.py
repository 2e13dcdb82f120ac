"""What a request wants besides its examples."""

from __future__ import annotations

import pytest

from agentforge.pipeline.small_models.reading.unverified_wishes import names_beside


@pytest.mark.parametrize(
    ("request_", "units", "known", "beside"),
    [
        (
            "statement and euros both write cents. Move that into one function amount(cents) that both call. amount(1) == '0.01'.",
            ["amount"],
            ["Ledger", "Ledger.statement", "euros", "parse"],
            ("statement", "euros"),
        ),
        ("Fix mean and add variance(values): variance([1, 3]) -> 1.0", ["variance"], ["mean"], ("mean",)),
        ("Add variance(values): the mean of squares. variance([1, 3]) -> 1.0", ["variance"], ["mean"], ()),
        ("Add count() to Cart: after add('pen', 1) count() == 1", ["Cart.count"], ["Cart", "Cart.add"], ()),
        ("Remove the method Cart.drop and add count(): Cart().count() == 0", ["Cart.count"], ["Cart.drop"], ("drop",)),
        ("Add back(x), the other way round of forth: back(2) -> 1", ["back"], ["forth"], ()),
        ("low_stock should take a limit: low_stock({}, 10) -> []", ["low_stock"], ["take"], ()),
    ],
)
def test_other_definitions_are_told(request_: str, units: list[str], known: list[str], beside: tuple[str, ...]) -> None:
    assert names_beside(request_, units=units, known=known) == beside
