from ledger import Ledger


def test_running_balance():
    book = Ledger()
    assert book.statement() == []
    book.add("salary", 1000)
    book.add("rent", -250)
    assert book.statement() == ["salary: 10.00 [10.00]", "rent: -2.50 [7.50]"]
    book.add("fee", -1000)
    assert book.statement()[2] == "fee: -10.00 [-2.50]"
