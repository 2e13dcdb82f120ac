from ledger import Ledger


def test_balance():
    book = Ledger()
    assert book.balance() == 0
    book.add("salary", 1000)
    book.add("rent", -250)
    assert book.balance() == 750
    book.add("car", -2000)
    assert book.balance() == -1250
