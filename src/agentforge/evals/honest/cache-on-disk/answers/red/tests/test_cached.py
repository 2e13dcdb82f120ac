def test_a_text_is_made_once(tmp_path):
    from diskcache import cached

    made = []

    def make():
        made.append(1)
        return f"grün {len(made)}"

    folder = tmp_path / "new" / "cache"
    assert cached(folder, "a", make) == "grün 1"
    assert (folder / "a.txt").read_text(encoding="utf-8") == "grün 1"
    assert cached(folder, "a", make) == "grün 1"
    assert len(made) == 1


def test_every_key_has_its_own_text(tmp_path):
    from diskcache import cached

    assert cached(tmp_path, "a", lambda: "x") == "x"
    assert cached(tmp_path, "b", lambda: "y") == "y"
