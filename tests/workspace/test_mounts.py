"""Which files of the machine a box takes away."""

from __future__ import annotations

from pathlib import Path

from agentforge.workspace.sandbox.mounts import is_hidden


def test_what_lies_in_the_home_is_hidden_unless_an_installation_there_is_shown(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "tool" / "bin").mkdir(parents=True)
    program = home / "tool" / "bin" / "agent"
    program.write_text("")
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin"}

    assert is_hidden(program, environ=environ, interpreters=())
    assert not is_hidden(program, environ=environ, interpreters=(program,))
    assert is_hidden(home / "notes.txt", environ=environ, interpreters=(program,))
    assert not is_hidden(program, environ={**environ, "PATH": f"{program.parent}:/bin"}, interpreters=())
    assert not is_hidden(Path("/usr/bin/env"), environ=environ, interpreters=())
