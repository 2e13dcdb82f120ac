from loading import load_rows


def test_rows_without_an_id_are_skipped():
    assert load_rows([{"id": 1}, {}, {"id": 2}]) == [{"id": 1}, {"id": 2}]
