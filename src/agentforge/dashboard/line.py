"""The queue as the dashboard sees it: looked at again after a while, and after a longer one when it does not answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from agentforge.config.paths import home_dir
from agentforge.config.settings import load
from agentforge.errors import ConfigError
from agentforge.fleet.places import Line, look_at_line

_FRESH_S = 5.0
_LEFT_ALONE_S = 60.0


class LookedAt:
    """The queue of a person, kept between looks.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, environ: Mapping[str, str], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._environ = environ
        self._clock = clock
        self._kept: Line | None = None
        self._not_before = 0.0

    def __call__(self) -> Line:
        """The queue, some seconds old at most; with `trouble` when it does not answer."""
        now = self._clock()
        if self._kept is None or now >= self._not_before:
            self._kept = _look(self._environ)
            self._not_before = now + (_LEFT_ALONE_S if self._kept.trouble else _FRESH_S)
        return self._kept


def _look(environ: Mapping[str, str]) -> Line:

    try:
        return look_at_line(load(home_dir(environ), environ), environ)
    except ConfigError as exc:
        return Line(standing={}, trouble=exc.message)
