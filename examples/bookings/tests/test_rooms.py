import pytest


def test_the_service_says_that_it_is_up(client):
    assert client.get("/health").json() == {"status": "ok"}


def test_rooms_are_listed_smallest_first(elm):
    elm.post("/rooms", json={"name": "Ash", "seats": 2})
    assert elm.get("/rooms").json() == [{"name": "Ash", "seats": 2}, {"name": "Elm", "seats": 6}]


def test_a_name_is_given_to_one_room_only(elm):
    answer = elm.post("/rooms", json={"name": "Elm", "seats": 9})
    assert (answer.status_code, answer.json()["error"]) == (409, "room_exists")


@pytest.mark.parametrize(
    "sent", [{"name": "", "seats": 2}, {"name": "a/b", "seats": 2}, {"name": "Oak"}, {"name": "Oak", "seats": True}]
)
def test_a_room_needs_a_name_and_seats(client, sent):
    answer = client.post("/rooms", json=sent)
    assert (answer.status_code, answer.json()["error"]) == (422, "bad_room")


@pytest.mark.parametrize("body", ["{", "[]"])
def test_a_body_that_is_no_object_is_refused(client, body):
    answer = client.post("/rooms", content=body)
    assert (answer.status_code, answer.json()["error"]) == (400, "bad_json")
