import ast
from pathlib import Path

import ledger


def test_they_return_the_same():
    book = ledger.Ledger()
    book.add("gift", 5)
    book.add("rent", -250)
    assert book.statement() == ["gift: 0.05", "rent: -2.50"]
    assert ledger.euros(1234) == "12.34 EUR"
    assert ledger.amount(1234) == "12.34"


def test_the_division_stands_once():
    text = Path(ledger.__file__).read_text()
    assert len([node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Div)]) == 1
