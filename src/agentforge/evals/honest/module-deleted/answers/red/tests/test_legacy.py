import importlib.util


def test_the_module_is_gone():
    assert importlib.util.find_spec("legacy") is None


def test_export_stays():
    from export import export

    assert export({"a": 1}) == "a=1"
