"""A screen on a small repository with a scripted model: everything real but the terminal."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("textual")

from agentforge.app.sessions.chat import Chat, ChatOptions
from agentforge.app.sessions.person import Person
from agentforge.config.settings import load
from agentforge.tui import flow, looks
from agentforge.tui.app import ScreenApp
from agentforge.tui.engine import Engine
from tests.support.screen.pictures import check

TEXTKIT = 'def shout(text: str) -> str:\n    """Upper-case it."""\n    return text.upper()\n'

Steps = Callable[["Stage"], Awaitable[None]]


@dataclass
class Stage:
    """A screen that is shown, and what drives it."""

    app: ScreenApp
    pilot: Any

    async def until(self, condition: Callable[[], object], *, what: str = "") -> None:
        """Let the screen work until something holds."""
        for _ in range(600):
            if condition():
                return
            await self.pilot.pause(0.01)
        raise AssertionError(f"never happened: {what}\n{self.text()}")

    async def type(self, text: str, *keys: str) -> None:
        """Type a text, then press keys."""
        self.app.prompt.insert(text)
        await self.pilot.press(*keys) if keys else await self.pilot.pause()

    async def say(self, text: str) -> None:
        """Type a message and send it."""
        await self.type(text, "enter")

    async def idle(self) -> None:
        """Wait until the agent waits for the person."""
        await self.until(lambda: not self.app.busy, what="idle")
        await self.pilot.pause()

    async def modal(self, name: str) -> Any:
        """Wait for a modal of that class."""
        await self.until(lambda: type(self.app.screen).__name__ == name, what=name)
        await self.pilot.pause()
        return self.app.screen

    async def picture(self, name: str) -> None:
        """Compare the screen, when nothing moves any more, with its picture."""
        from textual.widgets import Input, TextArea

        for screen in self.app.screen_stack:  # what lies under a modal is seen, too
            for typed in (*screen.query(Input), *screen.query(TextArea)):
                typed.cursor_blink = False
                typed._pause_blink(visible=True)  # else it stays as it was at this moment
        before, same = "", 0
        while same < 4:
            await self.pilot.pause(0.02)
            now = self.text()
            before, same = now, same + 1 if now == before else 0
        check(self.app, name)

    def text(self) -> str:
        """What stands on the screen."""
        rows = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in rows)


@dataclass
class Theatre:
    """Makes screens; each is closed at the end of its play."""

    folder: Path
    environ: dict[str, str]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def repo(self) -> Path:
        """The folder that the agent works in."""
        return self.folder / "repo"

    def write_script(self, *replies: dict[str, Any]) -> None:
        """What the model answers, one after the other."""
        self.write_play({"chat": list(replies)})

    def write_play(self, stages: dict[str, list[dict[str, Any]]]) -> None:
        """What the model answers, and what its subagents do."""
        (self.folder / "script.yaml").write_text(yaml.safe_dump(stages))

    def play(
        self,
        steps: Steps,
        *replies: dict[str, Any],
        size: tuple[int, int] = (80, 24),
        session: str = "",
        environ: dict[str, str] | None = None,
    ) -> ScreenApp:
        """Show the screen, take the steps, leave."""
        if replies:
            self.write_script(*replies)
        env = {**self.environ, **(environ or {})}

        def open_chat(name: str, person: Person) -> Chat:
            options = ChatOptions(cwd=self.repo, session=name, **{"model": "scripted/script.yaml", **self.options})
            return Chat.open(options, person, settings=load(self.repo, env), environ=env)

        engine = Engine(open_chat, session=session, environ=env)
        app = ScreenApp(engine, cwd=self.repo)

        async def go() -> None:
            async with app.run_test(size=size) as pilot:
                await pilot.pause()
                await steps(Stage(app=app, pilot=pilot))

        try:
            asyncio.run(go())
        finally:
            engine.leave()
        if app.crash is not None:
            raise app.crash
        return app


@pytest.fixture
def theatre(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Theatre]:
    """A repository, a home, and nothing that changes from run to run on the screen."""
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "textkit.py").write_text(TEXTKIT)
    git = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "main"], cwd=repo, check=True)
    subprocess.run([*git, "add", "-A"], cwd=repo, check=True)
    subprocess.run([*git, "commit", "-qm", "base"], cwd=repo, check=True)
    monkeypatch.chdir(tmp_path)
    for module in ("app.sessions.display", "tui.status_lines", "tui.transcript"):
        monkeypatch.setattr(f"agentforge.{module}.duration_text", lambda _seconds: "0.1s")
    monkeypatch.setitem(looks._SIGNS, "spin", ("⠋", "|"))  # type: ignore[arg-type] # a dict
    stands = flow.standing  # how many tokens a request takes depends on where the folder is
    monkeypatch.setattr(flow, "standing", lambda chat, state, **_: stands(chat, state, context_tokens=1234))
    home = str(tmp_path / "home")
    yield Theatre(
        folder=tmp_path, environ={"HOME": home, "AGENTFORGE_HOME": home, "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}
    )
