"""Nobody is asked about a change that cannot be made: it fails at once, and shows no more of a file than may be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.people import Asked

if TYPE_CHECKING:
    from tests.support.people import Open

_GONE = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-y = 1\n+y = 2\n"
_FITS = _GONE.replace("y", "x").replace("a/a.px", "a/a.py").replace("b/a.px", "b/a.py")


@pytest.mark.parametrize(
    ("tool", "args", "asked", "status"),
    [
        ("edit", {"path": "a.py", "old_string": "y = 1", "new_string": "y = 2"}, 0, "error"),
        ("edit", {"path": "a.py", "old_string": "gone for good", "new_string": "x = 1\nassert x"}, 0, "success"),
        ("edit", {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}, 1, "success"),
        ("apply_patch", {"patch": _GONE}, 0, "error"),
        ("apply_patch", {"patch": _FITS}, 1, "success"),
        ("write_file", {"path": "a.py", "content": "x = 1\nassert x\n"}, 0, "success"),
        ("write_file", {"path": "new/b.py", "content": "x = 1\n"}, 1, "success"),
        ("edit", {"path": ".env", "old_string": "gone", "new_string": "come"}, 1, "error"),
    ],
)
def test_only_a_change_that_can_be_made_is_asked_about(
    opened: Open, tool: str, args: dict[str, str], asked: int, status: str
) -> None:
    person = Asked("once")
    chat = opened({"chat": [{"tool_calls": [{"name": tool, "args": args}]}, {"text": "Done."}]}, person)
    (chat.workshop.root / "a.py").write_text("x = 1\nassert x\n")
    (chat.workshop.root / ".env").write_text("NAME=plain\n")
    before = (chat.workshop.root / "a.py").read_text()
    chat.say("go")
    (result,) = [entry for entry in chat.state.talk.entries if entry.kind == "tool"]
    assert (len(person.questions), result.status) == (asked, status), result.text
    assert asked or (chat.workshop.root / "a.py").read_text() == before
