from plugins import run_all


def test_every_plugin_is_run():
    assert run_all({"a": lambda: 1, "b": lambda: 2}) == {"a": 1, "b": 2}
