import logging

from plugins import run_all


def broken():
    raise ValueError("no")


def test_the_others_run():
    assert run_all({"bad": broken, "good": lambda: 2}) == {"good": 2}


def test_the_failure_is_logged(caplog):
    with caplog.at_level(logging.ERROR, logger="plugins"):
        run_all({"bad": broken})
    (record,) = caplog.records
    assert record.getMessage() == "plugin bad failed"
    assert record.exc_info is not None
