"""What is pasted or dropped: images and files by what they are, every other text as it is; what the clipboard gives."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("textual")

from agentforge.app.slash.command import is_command
from agentforge.messages import Picture
from agentforge.tui.prompt import dropped
from agentforge.workspace.files.pictures import MOST_BYTES, PictureTooLarge
from tests.tui.conftest import Stage, Theatre

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace, and files beside it."""
    root = tmp_path / "work space"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("x = 1\n")
    (tmp_path / "shot one.png").write_bytes(PNG)
    (tmp_path / "it's.png").write_bytes(PNG)
    (tmp_path / "notes.txt").write_text("hello\n")
    return root


def named(text: str, root: Path) -> list[str]:
    return [f"<{one.name}>" if isinstance(one, Picture) else one for one in dropped(text, root)]


def test_paths_are_taken_as_terminals_write_them(root: Path) -> None:
    up = root.parent
    shot = str(up / "shot one.png")
    for written in (shot, f"'{shot}'", f'"{shot}"', shot.replace(" ", "\\ "), f"file://{shot.replace(' ', '%20')}\r\n"):
        assert named(written, root) == ["<shot one.png>"], written
    assert named(f"{up}/it's.png", root) == ["<it's.png>"]
    two = f"'{root}/src/a.py' '{shot}' {up}/notes.txt "
    assert named(two, root) == ["@src/a.py", "<shot one.png>", f"{up}/notes.txt"]
    assert named(f"file://{shot.replace(' ', '%20')}\r\nfile://{up}/it's.png".replace("'", "%27"), root) == [
        "<shot one.png>", "<it's.png>",
    ]  # fmt: skip
    assert named(f"'{root}/src'", root) == ["@src/"]


def test_what_is_not_the_path_of_a_file_stays_what_it_is(root: Path) -> None:
    up = root.parent
    texts = (
        "", "hello", f"{up}/missing.png", f"see {root}/src/a.py", f"{up}/notes.txt", f"'{root}/src/a.py' and more", "/",
        f"{root}", f"'{root}/src/a.py", "/" + "x" * 9000, "/a\0b", "/usr/bin and /bin", "src/a.py", "~nobody/a.png",
        "def f():\n    return 1\n",
    )  # fmt: skip
    assert [text for text in texts if dropped(text, root)] == []


def test_an_image_that_is_too_large_is_told(root: Path) -> None:
    large = root.parent / "large.png"
    large.write_bytes(PNG + b"\0" * MOST_BYTES)
    with pytest.raises(PictureTooLarge):
        dropped(str(large), root)


def test_the_input_holds_what_was_dropped(theatre: Theatre) -> None:
    large = theatre.folder / "large.png"
    large.write_bytes(PNG + b"\0" * MOST_BYTES)

    async def steps(stage: Stage) -> None:
        stage.app.prompt.paste(f"'{theatre.repo}/textkit.py' ")
        assert stage.app.prompt.text == "@textkit.py "
        stage.app.prompt.paste(str(large))
        assert stage.app.prompt.text == f"@textkit.py {large}"
        await stage.until(lambda: "models take" in stage.text(), what="why it is not attached")

    theatre.play(steps)


@pytest.mark.parametrize(
    ("program", "script", "shown"),
    [
        ("xsel", "printf 'copied there'", "copied there"),
        ("wl-paste", "case \"$*\" in *image*) exit 1;; esac; printf 'two\\r\\nlines'", "two\nlines"),
        ("xclip", "exit 1", "nothing on the clipboard"),
        ("xclip", "printf '\\377\\376'", "nothing on the clipboard"),
        ("other", "", "install wl-clipboard or xclip"),
    ],
)
def test_ctrl_v_without_an_image_pastes_the_text_or_tells_why_not(
    theatre: Theatre, program: str, script: str, shown: str
) -> None:
    programs = theatre.folder / "programs"
    programs.mkdir()
    (programs / program).write_text(f"#!/bin/sh\n{script}\n")
    (programs / program).chmod(0o755)

    async def steps(stage: Stage) -> None:
        await stage.pilot.press("ctrl+v")
        await stage.until(lambda: stage.app.prompt.text == shown or shown in stage.text(), what=shown)

    theatre.play(steps, environ={"PATH": str(programs)})


def test_a_message_that_begins_with_a_path_is_no_command(theatre: Theatre) -> None:
    async def steps(stage: Stage) -> None:
        await stage.say("/tmp/some.log is empty: why?")
        await stage.idle()
        assert stage.app.engine.chat.state.talk.said == "/tmp/some.log is empty: why?"

    theatre.play(steps, {"text": "Hm."})
    assert is_command("/undo") and is_command(" /model a/b") and is_command("/")
    assert not any(map(is_command, ("", "//x", "/usr/bin", "/tmp/a b", "hello /undo")))
