"""A client of the shop's server."""

import os

_DEFAULT_URL = "http://localhost:8000"


def base_url() -> str:
    """Give the address of the server: what WARES_URL says, else this machine."""
    return (os.environ.get("WARES_URL") or _DEFAULT_URL).rstrip("/")


def url(path: str) -> str:
    """Give the address of a page."""
    return f"{base_url()}/{path}"
