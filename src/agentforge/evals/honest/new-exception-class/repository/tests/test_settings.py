import pytest

from settings import read_setting


def test_a_setting_is_read():
    assert read_setting({"a": "1"}, "a") == "1"


def test_a_missing_setting():
    with pytest.raises(KeyError):
        read_setting({}, "a")
