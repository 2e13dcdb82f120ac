"""The socket and the token of whatever is served on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.app.composition.listeners import authority, is_loopback, listening, token_of
from agentforge.errors import UsageError


def test_a_token_is_kept_privately_and_a_bad_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    token = token_of(file)
    assert token_of(file) == token and file.stat().st_mode & 0o777 == 0o600
    assert token_of(None) != token_of(None)
    file.chmod(0o644)
    with pytest.raises(UsageError, match="others can read"):
        token_of(file)
    file.chmod(0o600)
    file.write_text("short\n")
    with pytest.raises(UsageError, match="contains no token"):
        token_of(file)
    with pytest.raises(UsageError, match="cannot be written"):
        token_of(tmp_path / "nowhere" / "token")


def test_a_port_that_is_taken_is_told() -> None:
    with listening("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(UsageError, match="cannot be used"):
            listening("127.0.0.1", port)


def test_only_this_machine_is_loopback() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")] == [
        *(True, True, True, False, False)
    ]
    assert (authority("127.0.0.1", 8), authority("::1", 8)) == ("127.0.0.1:8", "[::1]:8")
