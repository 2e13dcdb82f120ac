from folders import is_empty


def test_is_empty(tmp_path):
    assert is_empty(tmp_path)
    (tmp_path / "a").touch()
    assert not is_empty(tmp_path)
