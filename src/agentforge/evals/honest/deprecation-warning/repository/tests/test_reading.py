from reading import load_all, read_all


def test_read_all():
    assert read_all([" a ", "b\n"]) == ["a", "b"]


def test_load_all():
    assert load_all([" a "]) == ["a"]
