from weather import Temperature


def test_celsius():
    assert Temperature(20).celsius == 20
