"""Line by line: in a pipe, on a terminal, on a dumb one."""

from __future__ import annotations

import errno
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

WRITE = {"text": "I write.", "tool_calls": [{"name": "write_file", "args": {"path": "new.txt", "content": "hello\n"}}]}
SECONDS = f"77.{os.getpid()}"  # what another process of these tests left is not ours
SLEEP = {"tool_calls": [{"name": "shell", "args": {"command": f"sleep {SECONDS}"}}]}
ADD = {"tool_calls": [{"name": "shell", "args": {"command": "git add ."}}]}


class Terminal:
    """The program on a terminal of its own."""

    def __init__(self, arguments: list[str], *, cwd: Path, environ: Mapping[str, str]) -> None:
        self.out = ""
        self.pid, self._fd = pty.fork()
        if not self.pid:
            os.chdir(cwd)
            os.execve(sys.executable, [sys.executable, "-m", "agentforge", *arguments], dict(environ))

    def until(self, text: str) -> str:
        """Read until a text came; gives what came, and forgets it."""
        end = time.monotonic() + 90
        while text not in self.out:
            assert time.monotonic() < end, f"no {text!r} in {self.out!r}"
            assert self._read(), f"ended without {text!r}: {self.out!r}"
        found, _, self.out = self.out.partition(text)
        return found

    def until_true(self, condition: Callable[[], object]) -> None:
        """Read until something holds."""
        end = time.monotonic() + 90
        while not condition():
            assert time.monotonic() < end, self.out
            assert self._read(), self.out

    def send(self, text: str) -> None:
        """Type."""
        os.write(self._fd, text.encode())

    def end(self, again: str = "") -> int:
        """Read to the end; gives the exit code.

        Args:
            again: typed once more as long as it does not leave: readline misses a signal that comes just before it waits.
        """
        end = time.monotonic() + 60
        next_time = time.monotonic() + 3
        while self._read():
            assert time.monotonic() < end, f"it did not end: {self.out!r}"
            if again and "session kept" not in self.out and time.monotonic() > next_time:
                next_time += 3
                with suppress(OSError):
                    self.send(again)
        os.close(self._fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self) -> bool:
        if not select.select([self._fd], [], [], 0.2)[0]:
            return True
        try:
            data = os.read(self._fd, 65536)
        except OSError as exc:
            assert exc.errno == errno.EIO
            return False
        self.out += data.decode("utf-8", "replace")
        return bool(data)


class Place:
    """A folder, a home, a script."""

    def __init__(self, folder: Path, pycache: Path) -> None:
        self.repo = folder / "repo"
        self.repo.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=self.repo, check=True)
        (self.repo / "a.txt").write_text("hello\n")
        self.script = folder / "script.yaml"
        self.environ = {
            "HOME": str(folder), "AGENTFORGE_HOME": str(folder / "af"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
            "TERM": "dumb", "PYTHONPYCACHEPREFIX": str(pycache),
        }  # fmt: skip

    def arguments(self, *replies: object, options: tuple[str, ...] = ()) -> list[str]:
        """The command line with a script of these replies."""
        self.script.write_text(yaml.safe_dump({"chat": list(replies)}))
        return ["--model", f"scripted/{self.script}", *options]

    def pipe(self, text: str, *replies: object, options: tuple[str, ...] = (), **environ: str) -> tuple[int, str, str]:
        """Run with a pipe on both sides."""
        done = subprocess.run(
            [sys.executable, "-m", "agentforge", *self.arguments(*replies, options=options)],
            input=text.encode(), cwd=self.repo, env={**self.environ, **environ}, capture_output=True, timeout=60,
        )  # fmt: skip
        encoding = environ.get("PYTHONIOENCODING", "utf-8").partition(":")[0]
        return done.returncode, done.stdout.decode(encoding), done.stderr.decode(encoding)

    def terminal(self, *replies: object, options: tuple[str, ...] = (), **environ: str) -> Terminal:
        """Run on a terminal."""
        return Terminal(self.arguments(*replies, options=options), cwd=self.repo, environ={**self.environ, **environ})


@pytest.fixture
def place(tmp_path: Path, pycache: Path) -> Iterator[Place]:
    yield Place(tmp_path, pycache)


def test_every_line_of_a_pipe_is_a_message(place: Place) -> None:
    code, out, err = place.pipe("look at @a.txt\n\n/version\nagain\n", {"text": "First."}, {"text": "Second."})
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == ["@a.txt: 1 line", "First."]
    assert out.splitlines()[-1] == "Second."


def test_in_a_pipe_nobody_is_asked_and_the_agent_is_told_so(place: Place) -> None:
    code, out, _ = place.pipe("write\n", WRITE, {"text": "Well."})
    assert code == 0
    assert not (place.repo / "new.txt").exists()
    assert "write_file new.txt" in out
    assert "nobody" in out
    assert "the user declined it" not in out


def test_what_went_wrong_is_the_exit_code(place: Place) -> None:
    code, out, err = place.pipe("one\ntwo\n", {"error": {"status": 401, "message": "no key"}}, {"text": "Second."})
    assert code == 5
    assert "Second." in out
    assert err.startswith("error[")
    assert place.pipe("/nope\n")[0] == 2


def test_a_stream_without_utf8_gets_ascii(place: Place) -> None:
    code, out, _ = place.pipe(
        "write\n", WRITE, {"text": "caf\u00e9 \u2713"}, options=("--approval", "auto"), PYTHONIOENCODING="ascii"
    )
    assert code == 0
    assert "  + write_file new.txt" in out
    assert "caf\\xe9" in out


@pytest.mark.parametrize("environ", [{"LANG": "C"}, {"LANG": "", "LC_ALL": "POSIX"}])
def test_a_terminal_without_utf8_gets_what_looks_like_it(place: Place, environ: dict[str, str]) -> None:
    terminal = place.terminal({"text": "caf\u00e9 \u2014 \u201cyes\u201d \u2713"}, **environ)
    terminal.until("> ")
    terminal.send("go\n")
    assert 'cafe - "yes" +' in terminal.until('"yes" +') + '"yes" +'
    terminal.until("> ")
    terminal.send("\x04")
    assert terminal.end() == 0 and terminal.out.isascii()


def test_escapes_of_a_model_do_not_reach_the_terminal(place: Place) -> None:
    _, out, _ = place.pipe("go\n", {"text": "a\x1b[31mred\x1b]0;title\x07b"})
    assert out == "aredb\n"


def test_run_without_a_prompt_at_a_terminal_is_the_interactive_agent_in_that_folder(place: Place) -> None:
    folder = place.repo.parent / "elsewhere"
    folder.mkdir()
    arguments = ["run", "--cwd", str(folder), *place.arguments(WRITE, {"text": "Done."}), "--approval", "auto"]
    terminal = Terminal(arguments, cwd=place.repo, environ=place.environ)
    terminal.until("> ")
    terminal.send("write\n")
    terminal.until("Done.")
    terminal.until("> ")
    terminal.send("\x04")
    assert terminal.end() == 0
    assert (folder / "new.txt").read_text() == "hello\n"


def test_a_person_allows_rejects_and_allows_always(place: Place) -> None:
    terminal = place.terminal(WRITE, ADD, ADD, {"text": "Done."})
    terminal.until("> ")
    terminal.send("write\n")
    assert "+hello" in terminal.until("allow? [y]es")
    terminal.send("y\n")
    assert "shell(git add *)" in terminal.until("(or say why not): ") + terminal.until("(or say why not): ")
    terminal.send("not now\n")
    assert "you declined: not now" in terminal.until("allow?")
    terminal.send("a\n")
    terminal.until("Done.")
    terminal.until("> ")
    terminal.send("\x04")
    assert "go on with: agentforge --resume" in terminal.until("--resume") + "go on with: agentforge --resume"
    assert terminal.end() == 0
    assert (place.repo / "new.txt").read_text() == "hello\n"


def test_ctrl_c_stops_the_turn_then_leaves(place: Place) -> None:
    terminal = place.terminal(SLEEP, {"text": "Fine."}, options=("--approval", "auto"))
    terminal.until("> ")
    terminal.send("sleep\n")
    terminal.until_true(_sleeps)
    terminal.send("\x03")
    terminal.until("stopped")
    terminal.until_true(lambda: not _sleeps())
    terminal.until("> ")
    terminal.send("go on\n")
    terminal.until("Fine.")
    terminal.until("> ")
    terminal.send("\x03")
    assert terminal.end(again="\x03") == 0


def test_sigterm_ends_it_and_keeps_the_session(place: Place) -> None:
    terminal = place.terminal(SLEEP, options=("--approval", "auto"))
    terminal.until("> ")
    terminal.send("sleep\n")
    terminal.until_true(_sleeps)
    os.kill(terminal.pid, signal.SIGTERM)
    terminal.until("session kept")
    assert terminal.end() == 130
    assert not _sleeps()


def test_continue_goes_on_with_the_last_session_of_the_folder(place: Place) -> None:
    assert place.pipe("x\n", options=("--continue",))[0] == 2
    place.pipe("one\n", {"text": "First."}, {"text": "Second."})
    _, out, _ = place.pipe("two\n", {"text": "First."}, {"text": "Second."}, options=("--continue",))
    assert out == "Second.\n"


def test_a_sentence_in_the_place_of_a_command_is_the_first_message(place: Place) -> None:
    replies = ({"text": "First."}, {"text": "Second."})
    terminal = place.terminal(*replies, options=("explain the tests",), TERM="dumb")
    terminal.until("First.")
    terminal.send("go on\n")
    terminal.until("Second.")
    terminal.until("> ")
    terminal.send("\x04")
    assert terminal.end() == 0
    code, out, _ = place.pipe("a line of a log\n", {"text": "I see."}, options=("what is wrong here?",))
    assert (code, out) == (0, "I see.\n")


def test_the_short_options_of_other_agents_mean_the_same_here(place: Place) -> None:
    replies = ({"text": "First."}, {"text": "Second."})
    assert place.pipe("", *replies, options=("-p", "one"))[1] == "First.\n"
    assert place.pipe("", *replies, options=("-c", "-p", "and two"))[1] == "Second.\n"
    assert place.pipe("three\n", *replies, {"text": "Third."}, options=("-c",))[1] == "Third.\n"


def test_an_option_before_a_command_is_not_lost_silently(place: Place) -> None:
    code, _, err = place.pipe("", options=("status",))
    assert code == 2
    assert "--model stands before the command" in err


def _sleeps() -> list[str]:
    """The commands of these tests that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if (entry / "cmdline").read_bytes() == f"sleep\0{SECONDS}\0".encode():
                found.append(entry.name)
        except OSError:
            continue
    return found


def test_memory_is_edited_in_the_persons_own_editor(place: Place) -> None:
    editor = place.repo.parent / "editor"
    editor.write_text('#!/bin/sh\nsed -i \'s/"entries": {}/"entries": {"style": "short"}/\' "$1"\n')
    editor.chmod(0o755)
    place.environ["EDITOR"] = str(editor)
    terminal = place.terminal({"text": "Hi."})
    terminal.until("/help shows the commands")
    terminal.send("/memory edit\n")
    terminal.until("Remembered now: 1 entries (user)")
    editor.write_text('#!/bin/sh\necho \'{"entries": \' > "$1"\n')
    terminal.send("/memory edit\n")
    terminal.until("is damaged")
    editor.write_text("#!/bin/sh\nexit 3\n")
    terminal.send("/memory edit\n")
    terminal.until("ended with 3; nothing was taken over")
    terminal.send("/memory\n")
    terminal.until("short")
    terminal.until("> ")  # before the prompt stands, Ctrl-D is taken by the terminal itself
    terminal.send("\x04")
    assert terminal.end() == 0
    kept = place.repo.parent / "af" / "data" / "user_memory.json"
    assert '"style": "short"' in kept.read_text()


def test_what_is_typed_while_the_agent_works_reaches_it_before_its_next_step(place: Place) -> None:
    waits = {"name": "shell", "args": {"command": "while [ ! -e go ]; do sleep 0.05; done"}}
    terminal = place.terminal(
        {"text": "I wait.", "tool_calls": [waits]}, {"text": "Done."}, options=("--approval", "yolo")
    )
    terminal.until("> ")
    terminal.send("work\n")
    terminal.until("I wait.")
    terminal.send("use tabs\n/version\n")
    (place.repo / "go").touch()
    terminal.until("the agent reads this before its next step: use tabs")
    terminal.until("Done.")
    terminal.until("agentforge 0.")  # the command that was typed is carried out when the turn has ended
    terminal.until("> ")
    terminal.send("\x04")
    assert terminal.end() == 0
    log = next((Path(place.environ["AGENTFORGE_HOME"]) / "data" / "runs").glob("*/events.jsonl")).read_text()
    assert [line.count("use tabs") for line in log.splitlines() if '"type":"UserSteered"' in line] == [1]


def test_binary_data_on_standard_input_is_an_error_and_no_message(place: Place) -> None:
    code, out, err = place.pipe("what\0is this\n", {"text": "Done."})
    assert (code, out) == (2, "") and "binary data" in err
