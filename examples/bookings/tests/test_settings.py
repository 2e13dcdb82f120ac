import pytest

from bookings.settings import Settings, from_environ


def test_settings_come_from_the_environment():
    assert from_environ({}) == Settings(database="bookings.db")
    assert from_environ({"BOOKINGS_DATABASE": "x.db", "BOOKINGS_OPENS": "8", "BOOKINGS_CLOSES": "18"}) == Settings(
        database="x.db", opens=8, closes=18
    )


@pytest.mark.parametrize("hour", ["noon", "25", "-1"])
def test_an_hour_that_is_none_is_refused(hour):
    with pytest.raises(ValueError, match="BOOKINGS_OPENS"):
        from_environ({"BOOKINGS_OPENS": hour})
