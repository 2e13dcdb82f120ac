"""A client of the shop's server."""


def base_url() -> str:
    """Give the address of the server."""
    return "http://localhost:8000"


def url(path: str) -> str:
    """Give the address of a page."""
    return f"{base_url()}/{path}"
