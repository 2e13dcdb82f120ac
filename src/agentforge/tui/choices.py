"""What the person chooses beside typing: completions, themes, approvals, answers to the agent and to waiting tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.screen import ModalScreen

from agentforge.app.sessions.approvals import KEEP_PLANNING
from agentforge.app.sessions.chat import Chat
from agentforge.app.sessions.desktop import clipboard_picture, clipboard_text, why_no_clipboard
from agentforge.app.sessions.mentions import Resources, as_mention, fitting, with_folders
from agentforge.app.slash import answers_at_once, run_slash
from agentforge.app.slash.command import Choice, SlashReply
from agentforge.app.tasks.answers import Waiting, pending
from agentforge.errors import AgentForgeError
from agentforge.events.kinds.choices import choices_of
from agentforge.store.log.files import replace_file
from agentforge.tui.completion import commands_for
from agentforge.tui.engine import Remark
from agentforge.tui.help import COMMANDS, LookScreen
from agentforge.tui.link import AskedApproval, AskedQuestion
from agentforge.tui.looks import AUTO, THEMES, fitting_theme
from agentforge.tui.picker import Picker
from agentforge.tui.questions import ApprovalScreen, QuestionScreen
from agentforge.workspace.files.search import files

if TYPE_CHECKING:
    pass
    from agentforge.tui.app import ScreenApp

_TOLD_S = 5.0
_APPROVE = ("approve", "reject", "abort")


class Choices:
    """The choosing half of the screen."""

    def __init__(self, app: ScreenApp) -> None:
        self._app = app
        self._files: list[str] | None = None
        self._resources: tuple[Chat, Resources] | None = None
        self._loading = False
        self._asked: list[tuple[AskedApproval | AskedQuestion, ModalScreen[Any]]] = []
        self._theme_file = app.engine_data / "theme"

    # -- themes

    def theme(self) -> str:
        """The theme of the settings, else the one that was chosen last, else the one that fits the terminal."""
        return self._set or self._chosen() or self._fitting()

    def _fitting(self) -> str:
        return fitting_theme(self._app.engine.environ, light=self._app.ground_is_light)

    @property
    def _set(self) -> str:
        """The theme that the settings name; "" = none."""
        name = self._app.engine.chat.workshop.settings.text("theme")
        return name if name in THEMES else ""

    def _chosen(self) -> str:
        """The theme that was chosen last; "" = none."""
        try:
            name = self._theme_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return ""
        return name if name in THEMES else ""

    def set_theme(self, name: str) -> None:
        """Choose a theme, for later sessions, too; `auto` = the one that fits the terminal."""
        replace_file(self._theme_file, name.encode())
        self._app.theme = name if name in THEMES else self._fitting()
        if self._set and self._set != self._app.theme:
            self._app.working.tell(f"Later sessions begin {self._set}: the setting theme says so", for_s=_TOLD_S)

    def _choose_theme(self) -> None:
        """Let the person choose; the theme under the cursor is shown at once."""
        before = self._app.theme
        current = self._chosen() or AUTO

        def looked_at(name: str) -> None:
            self._app.theme = name if name in THEMES else self._fitting()

        def chosen(name: str | None) -> None:
            if name is None:
                self._app.theme = before
            else:
                self.set_theme(name)

        rows = [Choice(value=name, label=name, current=name == current) for name in THEMES]
        rows.insert(0, Choice(value=AUTO, label=AUTO, about="fits the terminal's background", current=current == AUTO))
        self._app.push_screen(Picker("Which theme?", rows, looked_at=looked_at), chosen)

    def search_typed(self) -> None:
        """Let the person search what was typed before in this project, newest first."""
        prompt = self._app.prompt
        rows = [Choice(value=line, label=line[:200]) for line in dict.fromkeys(reversed(prompt.typed.lines))]
        self._app.push_screen(
            Picker("What you typed before", rows), lambda line: prompt.put(line) if line is not None else None
        )

    def paste_clipboard(self) -> None:
        """Read the clipboard, in another thread: the program that does may take its time."""
        environ, prompt = self._app.engine.environ, self._app.prompt
        picture = clipboard_picture(environ)
        if picture is not None:
            self._app.call_from_thread(prompt.show_picture, picture)
        elif text := clipboard_text(environ) or self._app.clipboard:
            self._app.call_from_thread(prompt.paste, text)
        else:
            self._app.call_from_thread(self.complain, why_no_clipboard(environ))

    def complain(self, text: str) -> None:
        """Tell for a moment why something was not taken."""
        self._app.working.tell(text, for_s=_TOLD_S)

    def choose(self, reply: SlashReply) -> None:
        """Let the person choose what a command is about."""

        async def chosen(value: str | None) -> None:
            if value is not None:
                await self._app.give(f"{reply.then} {value}")

        self._app.push_screen(Picker(reply.title, reply.choices, free=reply.free), chosen)

    def _look(self, text: str) -> None:
        """Show what a command says while a turn goes on, in a card over it."""
        reply = run_slash(self._app.engine.chat, text)
        self._app.call_from_thread(self._app.push_screen, LookScreen(text, reply.text))

    async def own_command(self, text: str) -> bool:
        """Carry out a command that only the screen has; whether it was one."""
        name, _, rest = text[1:].partition(" ")
        if name == "theme":
            if rest.strip() in (AUTO, *THEMES):
                self.set_theme(rest.strip())
            elif rest.strip():
                await self._app.transcript.remark(
                    f"there is no theme {rest.strip()!r}: {', '.join((AUTO, *THEMES))}", kind="error"
                )
            else:
                self._choose_theme()
        elif name == "vim":
            self._app.prompt.use_vim(wanted=self._app.prompt.vim is None)
        elif name == "edit":
            self._app.action_edit_draft()
        elif name == "keys":
            self._app.action_keys()
        elif name in ("exit", "quit"):
            self._app.leave(0)
        elif name == "resolve" and not rest.strip():
            self._app.run_worker(self._find_questions, thread=True, exclusive=True, group="resolve")
        elif self._app.busy and answers_at_once(text):
            self._app.run_worker(lambda: self._look(text), thread=True, group="look")
        else:
            return False
        return True

    # -- completions

    def offer(self, word: str, *, first: bool) -> bool:
        """Offer what a begun word could become; whether there is anything."""
        rows: list[tuple[str, str]] = []
        if first:
            word, rows = commands_for(self._app.engine.chat, word, COMMANDS)
        elif word:
            if self._files is None:
                self._load_files(word)
            files = fitting(self._files or [], word[1:].strip('"'), most=20)
            mentions = [
                as_mention(path) + " " * (not path.endswith("/")) for path in files
            ]  # one goes on inside a folder
            rows = [(one, "") for one in mentions] + self._offered_resources(word)
        return self._app.completion.offer(word, rows)

    def forget_files(self) -> None:
        """The next @ lists the files anew."""
        self._files = None

    def _offered_resources(self, word: str) -> list[tuple[str, str]]:
        """Servers and what they offer to read; a server is asked in another thread, then offered again."""
        chat = self._app.engine.chat
        if self._resources is None or self._resources[0] is not chat:
            self._resources = chat, Resources(chat.workshop)
        resources = self._resources[1]
        server = resources.wants(word)
        if server and not self._loading:
            self._loading = True

            def load() -> None:
                resources.ask(server)
                self._app.call_from_thread(self._loaded, self._files, word)

            self._app.run_worker(load, thread=True, group="resources")
        return [(name if name.endswith(":") else f"{name} ", "") for name in resources.fitting(word)]

    def _load_files(self, word: str) -> None:
        """List the files in another thread, then offer again."""
        if self._loading:
            return
        self._loading = True

        def load() -> None:
            found = with_folders(files(self._app.engine.root))
            self._app.call_from_thread(self._loaded, found, word)

        self._app.run_worker(load, thread=True, group="files")

    def _loaded(self, found: list[str] | None, word: str) -> None:
        self._files, self._loading = found, False
        prompt = self._app.prompt
        if prompt.text.rstrip().endswith(word):
            prompt.offer_anew()

    # -- what the agent asks

    def ask(self, asked: AskedApproval | AskedQuestion) -> None:
        """Put a question on the screen; several stand behind each other."""
        self._app.bell()
        if isinstance(asked, AskedApproval):
            approval = ApprovalScreen(asked.question, guarded=bool(self._app.prompt.text))
            self._asked.append((asked, approval))
            self._app.push_screen(approval, asked.answer)
        else:
            plan = KEEP_PLANNING in asked.options
            question = QuestionScreen(
                asked.question,
                asked.options,
                formatted=plan,
                guarded=bool(self._app.prompt.text),
                explained=(KEEP_PLANNING,) if plan else (),
                title="The plan" if plan else "The agent asks",
            )
            self._asked.append((asked, question))
            self._app.push_screen(question, asked.answer)

    def withdraw(self) -> None:
        """Nobody waits for the answers any more: take the questions from the screen."""
        for asked, screen in reversed(self._asked):
            asked.answer(None)
            if screen in self._app.screen_stack:
                screen.dismiss(None)
        self._asked = []

    # -- what tasks ask

    def look_for_questions(self) -> None:
        """Count what waits for an answer, in another thread; where there are no tasks nothing is started."""
        if (self._app.engine.root / ".agentforge" / "tasks").is_dir():
            self._app.run_worker(self._count, thread=True, exclusive=True, group="waiting")

    def _count(self) -> None:
        try:
            count = len(pending(self._app.engine.root))
        except AgentForgeError:
            count = 0
        self._app.call_from_thread(self._app.flow.set_waiting, count)

    def _find_questions(self) -> None:
        try:
            rows = pending(self._app.engine.root)
        except AgentForgeError as error:
            self._app.engine.link.put(Remark(text=str(error), kind="error"))
            return
        if not rows:
            self._app.engine.link.put(Remark(text="nothing waits for you"))
        else:
            self._app.call_from_thread(self._put, rows)

    def _put(self, rows: list[Waiting]) -> None:
        """Ask the oldest; the next ones when it is answered."""
        row, rest = rows[0], rows[1:]
        options = row.item.options or _decisions_of(row)
        title = f"{row.address} ({row.item.kind}, {row.item.stage})"

        async def answered(text: str | None) -> None:
            decision = "" if text is None else _decision(text, row)
            if decision == "reject":  # a rejection needs a reason
                self._app.push_screen(QuestionScreen("Why not?", (), title=title), reasoned)
                return
            if decision:
                await self._app.give(f"/resolve {row.address} {decision}")
            if rest:
                self._put(rest)

        async def reasoned(text: str | None) -> None:
            if text is None:
                self._put(rows)
            else:
                await answered(f"reject {text}")

        self._app.push_screen(QuestionScreen(row.item.question, options, title=title, guarded=True), answered)


def _decisions_of(row: Waiting) -> tuple[str, ...]:
    """The decisions that a question about a result, a step or a limit offers."""
    offered = {choice.decision for choice in choices_of(row.item)}
    return tuple(word for word in _APPROVE if word in offered) if row.item.kind in ("approval", "limit") else ()


def _decision(text: str, row: Waiting) -> str:
    """The words of /resolve for what was answered."""
    word, _, reason = text.partition(" ")
    if row.item.kind in ("approval", "limit") and word.rstrip(":,") in _APPROVE:
        return f"{word.rstrip(':,')} {reason}".strip()
    if row.item.kind == "approval":
        return f"reject {text}"
    return f"answer {text}" if text != "abort" else "abort"
