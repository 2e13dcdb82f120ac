import pytest

from settings import read_setting


def test_a_missing_setting_is_named():
    from settings import MissingSetting

    with pytest.raises(MissingSetting) as caught:
        read_setting({"y": "1"}, "x")
    assert caught.value.name == "x"
    assert str(caught.value) == "setting 'x' is missing"


def test_it_is_a_key_error():
    from settings import MissingSetting

    assert issubclass(MissingSetting, KeyError)
