"""Proves app/sessions/display.py: a call as one line says what was looked for, and nothing twice."""

from __future__ import annotations

import pytest

from agentforge.app.sessions.display import begun, ended
from agentforge.events import kinds


@pytest.mark.parametrize(
    ("name", "arguments", "summary", "told"),
    [
        ("grep", {"pattern": "def ", "path": "src"}, "grep: 7 hits in 3 files for def", ("def", "7 hits in 3 files")),
        ("read_file", {"path": "a.py"}, "read_file: a.py lines 1-9 of 9", ("a.py", "lines 1-9 of 9")),
        ("list_dir", {"path": "."}, "list_dir: .: 12 entries", (".", "12 entries")),
        ("shell", {"command": "true"}, "shell: exit 0 in 0.1 s", ("true", "exit 0")),
        ("shell", {"command": "yes"}, "shell: exit 1 in 2.1 s, 9 lines cut", ("yes", "exit 1, 9 lines cut")),
        ("edit", {"path": "a.py"}, "edit: edited a.py at line 3", ("a.py", "at line 3")),
        ("append_file", {"path": "a.py"}, "append_file: appended 6 lines to a.py", ("a.py", "appended 6 lines")),
        ("edit", {"path": "a.py"}, "The user declined this call and said: a rule", ("a.py", "you declined: a rule")),
        ("todos", {"action": "list"}, "todos: list", ("list", "")),
    ],
)
def test_a_line_names_what_was_looked_for_and_says_nothing_twice(
    name: str, arguments: dict[str, object], summary: str, told: tuple[str, str]
) -> None:
    line = begun(kinds.ToolStarted(step=1, index=0, call_id="c", name=name, arguments=arguments, effect="read"))
    done = kinds.ToolFinished(step=1, index=0, call_id="c", name=name, status="success", summary=summary, text="")
    line = ended(line, done)
    assert (line.argument, line.result) == told
