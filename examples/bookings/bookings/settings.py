"""What can be set from outside."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The settings of one running service."""

    database: str = ":memory:"
    opens: int = 7
    closes: int = 20


def from_environ(environ: Mapping[str, str]) -> Settings:
    """Read the settings from environment variables."""
    return Settings(
        database=environ.get("BOOKINGS_DATABASE", "bookings.db"),
        opens=_hour(environ, "BOOKINGS_OPENS", 7),
        closes=_hour(environ, "BOOKINGS_CLOSES", 20),
    )


def _hour(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, str(default))
    if not text.isdigit() or int(text) > 24:
        raise ValueError(f"{name} is {text!r}, not an hour from 0 to 24")
    return int(text)
