"""Serve the API: `python -m bookings`."""

import os

import uvicorn

from bookings.api import create_app
from bookings.settings import from_environ

if __name__ == "__main__":
    uvicorn.run(create_app(from_environ(os.environ)), host="127.0.0.1", port=8000)
