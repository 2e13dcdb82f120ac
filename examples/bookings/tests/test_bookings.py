import pytest

STANDUP = {"title": "Standup", "begins": "2026-03-02T09:00", "ends": "2026-03-02T09:15"}


def test_a_booking_is_listed_on_its_day(elm):
    made = elm.post("/rooms/Elm/bookings", json=STANDUP)
    assert made.status_code == 201
    assert made.json() == {"id": 1, "room": "Elm", **STANDUP}
    assert elm.get("/rooms/Elm/bookings", params={"day": "2026-03-02"}).json() == [made.json()]
    assert elm.get("/rooms/Elm/bookings", params={"day": "2026-03-03"}).json() == []


def test_a_room_is_booked_once_at_a_time(elm):
    elm.post("/rooms/Elm/bookings", json=STANDUP)
    answer = elm.post("/rooms/Elm/bookings", json={**STANDUP, "begins": "2026-03-02T09:10", "ends": "2026-03-02T10:00"})
    assert answer.status_code == 409
    assert answer.json() == {"error": "room_taken", "detail": "Elm is booked from 09:00 to 09:15"}


def test_a_booking_may_begin_when_another_ends(elm):
    elm.post("/rooms/Elm/bookings", json=STANDUP)
    after = {**STANDUP, "begins": "2026-03-02T09:15", "ends": "2026-03-02T10:00"}
    assert elm.post("/rooms/Elm/bookings", json=after).status_code == 201


@pytest.mark.parametrize(
    ("begins", "ends", "error"),
    [
        ("2026-03-02T10:00", "2026-03-02T10:00", "bad_time"),
        ("2026-03-02T19:00", "2026-03-03T08:00", "bad_time"),
        ("2026-03-02T06:59", "2026-03-02T08:00", "closed"),
        ("2026-03-02T19:00", "2026-03-02T20:01", "closed"),
        ("tomorrow", "2026-03-02T20:00", "bad_time"),
    ],
)
def test_times_must_make_sense(elm, begins, ends, error):
    answer = elm.post("/rooms/Elm/bookings", json={"title": "x", "begins": begins, "ends": ends})
    assert (answer.status_code, answer.json()["error"]) == (422, error)


def test_a_room_can_be_booked_until_it_closes(elm):
    late = {"title": "Late", "begins": "2026-03-02T19:00", "ends": "2026-03-02T20:00"}
    assert elm.post("/rooms/Elm/bookings", json=late).status_code == 201


def test_a_cancelled_booking_leaves_the_room_free(elm):
    number = elm.post("/rooms/Elm/bookings", json=STANDUP).json()["id"]
    assert elm.delete(f"/bookings/{number}").status_code == 204
    assert elm.delete(f"/bookings/{number}").status_code == 404
    assert elm.post("/rooms/Elm/bookings", json=STANDUP).status_code == 201


def test_what_is_not_there_is_not_found(elm):
    assert elm.get("/rooms/Oak/bookings", params={"day": "2026-03-02"}).json()["error"] == "no_room"
    assert elm.get("/rooms/Elm/bookings", params={"day": "soon"}).json()["error"] == "bad_day"
