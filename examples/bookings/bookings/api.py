"""The routes of the API."""

import json
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bookings import problems
from bookings.problems import Problem
from bookings.rules import Booking, check_free, check_hours, day_of, moment
from bookings.settings import Settings
from bookings.store import Store


def create_app(settings: Settings) -> Starlette:
    """Make the service with a store of its own."""
    app = Starlette(
        routes=[
            Route("/health", health),
            Route("/rooms", list_rooms, methods=["GET"]),
            Route("/rooms", add_room, methods=["POST"]),
            Route("/rooms/{name}/bookings", list_bookings, methods=["GET"]),
            Route("/rooms/{name}/bookings", book, methods=["POST"]),
            Route("/bookings/{number:int}", cancel, methods=["DELETE"]),
        ],
        exception_handlers={Problem: problems.answer},
    )
    app.state.settings = settings
    app.state.store = Store(settings.database)
    return app


async def health(request: Request) -> JSONResponse:
    """Say that the service is up."""
    return JSONResponse({"status": "ok"})


async def list_rooms(request: Request) -> JSONResponse:
    """List the rooms, smallest first."""
    rooms = request.app.state.store.rooms()
    return JSONResponse([{"name": name, "seats": seats} for name, seats in rooms])


async def add_room(request: Request) -> JSONResponse:
    """Add a room."""
    sent = await _fields(request)
    name, seats = sent.get("name"), sent.get("seats")
    if not isinstance(name, str) or not name.strip() or "/" in name:
        raise Problem(422, "bad_room", "name must be a text without a slash")
    if isinstance(seats, bool) or not isinstance(seats, int) or seats < 1:
        raise Problem(422, "bad_room", "seats must be a whole number from 1")
    if not request.app.state.store.add_room(name, seats):
        raise Problem(409, "room_exists", f"there is a room {name} already")
    return JSONResponse({"name": name, "seats": seats}, status_code=201)


async def list_bookings(request: Request) -> JSONResponse:
    """List the bookings of a room on a day."""
    room = _room(request)
    day = day_of(request.query_params.get("day", ""))
    return JSONResponse([_shown(one) for one in request.app.state.store.bookings(room, day)])


async def book(request: Request) -> JSONResponse:
    """Book a room."""
    room, sent = _room(request), await _fields(request)
    title = sent.get("title")
    if not isinstance(title, str) or not title.strip():
        raise Problem(422, "bad_title", "title must be a text")
    begins, ends = moment(sent.get("begins"), "begins"), moment(sent.get("ends"), "ends")
    check_hours(begins, ends, request.app.state.settings)
    store = request.app.state.store
    check_free(begins, ends, store.bookings(room, begins.date()))
    return JSONResponse(_shown(store.book(room, title, begins, ends)), status_code=201)


async def cancel(request: Request) -> Response:
    """Cancel a booking."""
    number = request.path_params["number"]
    if not request.app.state.store.cancel(number):
        raise Problem(404, "no_booking", f"there is no booking {number}")
    return Response(status_code=204)


def _room(request: Request) -> str:
    name = request.path_params["name"]
    if not request.app.state.store.has_room(name):
        raise Problem(404, "no_room", f"there is no room {name}")
    return name


async def _fields(request: Request) -> dict[str, Any]:
    try:
        sent = json.loads(await request.body())
    except ValueError:
        raise Problem(400, "bad_json", "the body must be JSON") from None
    if not isinstance(sent, dict):
        raise Problem(400, "bad_json", "the body must be a JSON object")
    return sent


def _shown(one: Booking) -> dict[str, Any]:
    begins, ends = f"{one.begins:%Y-%m-%dT%H:%M}", f"{one.ends:%Y-%m-%dT%H:%M}"
    return {"id": one.id, "room": one.room, "title": one.title, "begins": begins, "ends": ends}
