from diskcache import keys


def test_keys(tmp_path):
    (tmp_path / "b.txt").write_text("x")
    (tmp_path / "a.txt").write_text("y")
    assert keys(tmp_path) == ["a", "b"]
