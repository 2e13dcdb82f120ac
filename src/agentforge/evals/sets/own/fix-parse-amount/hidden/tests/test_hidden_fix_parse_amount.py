from ledger import parse_amount


def test_amounts():
    assert parse_amount("12.3") == 1230
    assert parse_amount("-1.50") == -150
    assert parse_amount("-0.50") == -50
    assert parse_amount("12.34") == 1234
    assert parse_amount("7") == 700
    assert parse_amount("0.05") == 5
