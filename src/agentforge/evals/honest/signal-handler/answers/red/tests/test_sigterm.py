import signal


def test_sigterm_is_noticed_and_the_old_handler_put_back():
    from stopping import stop_on_sigterm

    before = signal.getsignal(signal.SIGTERM)
    with stop_on_sigterm() as stop:
        assert stop.stopped is False
        signal.raise_signal(signal.SIGTERM)
        assert stop.stopped is True
    assert signal.getsignal(signal.SIGTERM) is before
