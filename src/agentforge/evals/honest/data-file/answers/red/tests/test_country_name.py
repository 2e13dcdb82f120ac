import pytest


@pytest.mark.parametrize(
    ("code", "name"), [("de", "Germany"), ("FR", "France"), ("IT", "Italy"), ("JP", "Japan"), ("no", "Norway")]
)
def test_names(code, name):
    from countries import country_name

    assert country_name(code) == name


def test_an_unknown_code():
    from countries import country_name

    with pytest.raises(KeyError):
        country_name("XX")
