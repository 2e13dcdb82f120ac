"""Proves cli/startup/stdin.py: what is piped is text in any usual encoding, or an error."""

from __future__ import annotations

import pytest

from agentforge.cli.startup.stdin import as_text
from agentforge.errors import UsageError


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_text_in_another_encoding_is_handed_over_as_it_is_read(encoding: str) -> None:
    assert as_text("caf\u00e9\n".encode(encoding)) == "caf\u00e9\n"


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\0\0", b"\xff\xfe\0"])
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError):
        as_text(data)
