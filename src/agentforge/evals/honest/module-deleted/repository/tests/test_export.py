from export import export


def test_export():
    assert export({"a": 1, "b": 2}) == "a=1;b=2"
