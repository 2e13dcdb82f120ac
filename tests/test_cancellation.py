"""Proves that work which blocks is stopped by the clock and by another thread, and that neither is taken for the other."""

from __future__ import annotations

import time
from threading import Timer

import pytest

from agentforge.cancellation import Cancellation, TimeIsUp, for_at_most, pause, under


def test_work_that_takes_longer_is_stopped() -> None:
    began = time.monotonic()
    with pytest.raises(TimeIsUp), for_at_most(0.05):
        pause(30)
    assert time.monotonic() - began < 10


def test_work_that_is_done_in_time_is_left_alone_and_so_is_what_follows() -> None:
    with for_at_most(0.2):
        pause(0)
    pause(0.3)
    with for_at_most(None):
        pause(0)


def test_a_sign_from_without_stops_what_has_time_left() -> None:
    sign = Cancellation()
    clock = Timer(0.05, sign.cancel)
    clock.start()
    with pytest.raises(KeyboardInterrupt), under(sign), for_at_most(30):
        pause(30)
    clock.join()


def test_an_error_of_the_work_itself_stays_what_it_is() -> None:
    with pytest.raises(ValueError, match="mine"), for_at_most(30):
        raise ValueError("mine")
