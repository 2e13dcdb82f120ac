from legacy import old_export


def test_old_export():
    assert old_export({"a": 1}) == "a 1"
