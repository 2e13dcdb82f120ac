from ledger import Ledger, euros, parse_amount


def test_balance_of_income():
    book = Ledger()
    book.add("salary", 1000)
    book.add("gift", 250)
    assert book.balance() == 1250


def test_parse_amount():
    assert parse_amount("12.34") == 1234


def test_euros():
    assert euros(1234) == "12.34 EUR"
