import logging

from loading import load_rows


def test_a_skipped_row_is_logged(caplog):
    with caplog.at_level(logging.WARNING, logger="loading"):
        assert load_rows([{"id": 1}, {}, {"id": 2}]) == [{"id": 1}, {"id": 2}]
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [("WARNING", "row 2 has no id")]
