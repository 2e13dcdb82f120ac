"""Files named by @, long pastes, what was typed before."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentforge.app.sessions.chat import Chat, ChatOptions
from agentforge.app.sessions.input_history import Typed
from agentforge.app.sessions.mentions import Resources, as_mention, fitting, mentioned, notes_of, pasted, with_folders
from agentforge.app.sessions.person import Nobody
from agentforge.config.settings import load
from agentforge.errors import UsageError

_SERVER = Path(__file__).parents[1] / "tools" / "fixtures" / "odd_server.py"


def test_a_file_goes_along_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    found = notes_of("look at @a.py, please", tmp_path)
    assert found.notes == ('<file path="a.py">\nx = 1\n\n</file>',)
    assert found.shown == ("@a.py: 1 line",)


@pytest.mark.parametrize(
    "text", ["mail ann@example.org", "a decorator @dataclass", "@", "x @@a.py", "git@host:a.py", "see @missing.py"]
)
def test_an_at_that_names_no_file_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text("x")
    assert notes_of(text, tmp_path).notes == ()


def test_what_lies_outside_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "loop").symlink_to(root / "loop")
    found = notes_of("@../secret @link @/etc/passwd @loop", root)
    assert found.notes == ()
    assert [line.split(":")[0] for line in found.shown] == ["@../secret", "@link", "@/etc/passwd"]


def test_spaces_folders_and_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "my file.txt").write_text("hello")
    (tmp_path / "data.bin").write_bytes(b"\0\1")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "b.py").write_text("")
    found = notes_of(f"{as_mention('my file.txt')} @data.bin @src", tmp_path)
    assert [note.split("\n")[0] for note in found.notes] == ['<file path="my file.txt">', '<folder path="src">']
    assert "@data.bin: not a text, left out" in found.shown


def test_long_files_many_files_and_full_folders_go_along_whole(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number}.txt").write_text(f"begin {number}\n" + "y" * 100_000 + f"\nend {number}")
    (tmp_path / "many").mkdir()
    for number in range(300):
        (tmp_path / "many" / f"n{number}").touch()
    found = notes_of(" ".join([*(f"@{number}.txt" for number in range(6)), "@many"]), tmp_path)
    assert all(f"begin {n}\n" in note and f"\nend {n}\n" in note for n, note in enumerate(found.notes[:6]))
    assert found.notes[6].count("\n") == 301


def test_a_file_that_no_model_could_hold_is_refused_by_name_size_and_way_out(tmp_path: Path) -> None:
    with (tmp_path / "huge.log").open("wb") as file:
        file.write(b"x")
        file.truncate(20_000_002)
        file.seek(0)
        file.write(b"x" * 20_000_002)
    with pytest.raises(UsageError) as refused:
        notes_of("@huge.log", tmp_path)
    assert "20,000,002 bytes" in str(refused.value) and "without the @" in refused.value.hint


def test_the_best_fitting_file_stands_first() -> None:
    files = ["docs/views.md", "src/view.py", "src/overview.py", "v/i/e.w"]
    assert fitting(files, "view") == ["src/view.py", "docs/views.md", "src/overview.py", "v/i/e.w"]
    assert fitting(files, "zzz") == []
    package = with_folders(["test_kit.py", "kit/py.typed", "kit/deep/a.py"])
    assert fitting(package, "kit") == ["kit/", "kit/deep/", "kit/py.typed", "kit/deep/a.py", "test_kit.py"]


def test_twenty_thousand_files_are_searched_at_once() -> None:
    files = [f"src/package_{number % 97}/module_{number}.py" for number in range(20_000)]
    began = time.process_time()
    assert fitting(files, "module_19999") == ["src/package_17/module_19999.py"]
    assert time.process_time() - began < 0.5


def test_a_long_paste_is_named_and_goes_along_whole() -> None:
    text = "a" * 50_000 + "z"
    name, note = pasted(text, 3)
    assert name == "[pasted 3: 1 lines, 50,001 characters]"
    assert note == f'<pasted number="3">\n{text}\n</pasted>'


def test_what_was_typed_is_kept_per_project(tmp_path: Path) -> None:
    here, there = tmp_path / "a", tmp_path / "b"
    typed = Typed(tmp_path, here)
    for text in ("one", "two\nlines", "two\nlines", "", "  "):
        typed.add(text)
    assert Typed(tmp_path, here).lines == ["one", "two\nlines"]
    assert Typed(tmp_path, there).lines == []
    (file,) = (tmp_path / "typed").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_history_that_is_damaged_or_grows_is_no_trouble(tmp_path: Path) -> None:
    typed = Typed(tmp_path, tmp_path)
    for number in range(1200):
        typed.add(f"{number}")
    (file,) = (tmp_path / "typed").iterdir()
    with file.open("ab") as stream:
        stream.write(b'\xff{"cut\n[1]\n')
    assert Typed(tmp_path, tmp_path).lines[-1] == "1199"
    assert len(file.read_bytes().splitlines()) < 1100


def test_a_resource_of_a_server_goes_along_fenced_and_counts_as_foreign_text(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    with _with_server(tmp_path) as chat:
        found = mentioned(chat, "see @odd:memo://today and @even:x")
        assert found.notes[0].startswith('<resource server="odd" uri="memo://today">\n<untrusted ')
        assert "what is written there" in found.notes[0]
        assert (len(found.notes), found.sources) == (1, ("mcp",))
        assert [line.split(" ")[0] for line in found.shown] == ["@odd:memo://today:"]
        chat.say("see it", notes=found.notes, sources=found.sources)
        assert "mcp" in chat.state.progress.untrusted


def test_servers_and_what_they_offer_complete_a_begun_name(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    with _with_server(tmp_path) as chat:
        resources = Resources(chat.workshop)
        assert (resources.fitting("@o"), resources.wants("@o")) == (["@odd:"], "")
        assert (resources.fitting("@odd:me"), resources.wants("@odd:me")) == ([], "odd")
        resources.ask("odd")
        assert (resources.fitting("@odd:me"), resources.wants("@odd:me")) == (["@odd:memo://today"], "")
        assert resources.fitting("@even:") == []


@contextmanager
def _with_server(tmp_path: Path) -> Iterator[Chat]:
    environ = {"HOME": str(tmp_path / "home"), "AGENTFORGE_HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    folder = tmp_path / "project"
    folder.mkdir()
    settings = tmp_path / "home" / "config" / "config.toml"
    settings.parent.mkdir(parents=True)
    (folder / "odd_server.py").write_text(_SERVER.read_text())
    settings.write_text(f'[mcp_servers.odd]\ncommand = "{sys.executable}"\nargs = ["-S", "odd_server.py"]\n')
    script = tmp_path / "chat.yaml"
    script.write_text('chat: [{text: "Done."}]\n')
    options = ChatOptions(cwd=folder, model=f"scripted/{script}")
    with Chat.open(options, Nobody(), settings=load(folder, environ), environ=environ) as chat:
        yield chat


def test_a_path_that_leads_nowhere_is_named_and_a_decorator_is_not(tmp_path: Path) -> None:
    found = notes_of("see @shot.png, @src/none.py and @dataclass or @pytest.fixture", tmp_path)
    assert found.notes == () and found.pictures == ()
    assert [line.partition(":")[0] for line in found.shown] == ["@shot.png", "@src/none.py"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
def test_a_text_in_another_encoding_goes_along_as_it_is_read(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.txt").write_text("caf\u00e9\n", encoding=encoding)
    assert notes_of("@a.txt", tmp_path).notes == ('<file path="a.txt">\ncaf\u00e9\n\n</file>',)
