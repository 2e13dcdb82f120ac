"""The application: what is typed goes to the engine, what happens goes into the transcript."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.color import Color
from textual.containers import Vertical
from textual.events import Key, Resize
from textual.filter import LineFilter

from agentforge.app.sessions.input_history import Typed
from agentforge.app.sessions.person import Reply
from agentforge.app.slash.command import is_command
from agentforge.config.paths import data_dir
from agentforge.tui import engine as engines
from agentforge.tui.choices import Choices
from agentforge.tui.completion import Completion
from agentforge.tui.driver import TerminalDriver
from agentforge.tui.flow import Flow
from agentforge.tui.help import COMMANDS, HelpScreen
from agentforge.tui.looks import THEMES, Signs, knows_colour, knows_unicode, lookalike, themes
from agentforge.tui.prompt import Prompt
from agentforge.tui.questions import ApprovalScreen
from agentforge.tui.status_lines import Lines, Parts, Todos, Working
from agentforge.tui.transcript import Transcript

_FAR = 0.35
"""From this difference in brightness on a background is a mark: a cursor, a selection, the chosen line."""
_SHORT, _NARROW = 18, 40


class Lookalikes(LineFilter):
    """Draws ASCII alone, cell for cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Draw segments with signs that look like theirs."""
        return [Segment(lookalike(text), style, control) for text, style, control in segments]


class Colourless(LineFilter):
    """Takes colours out of what is drawn; what brightness said is said in reverse video, bold, italics and underlines stay."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Draw segments in the terminal's own two colours."""
        return [
            Segment(text, _plain(style, background.brightness) if style is not None else None, control)
            for text, style, control in segments
        ]


@lru_cache(1024)
def _plain(style: Style, ground: float) -> Style:
    plain = style.without_color + Style.from_meta(style.meta) if style.meta else style.without_color
    return plain + Style(reverse=not style.reverse) if _is_marked(style.bgcolor, ground) else plain


def _is_marked(colour: RichColor | None, ground: float) -> bool:
    if colour is None or colour.is_default:
        return False
    return abs(Color.from_rich_color(colour).brightness - ground) >= _FAR


_TOLD_GROUND_S = 0.1
_JOBS_S = 1.0
_WAITING_S = 30.0
_PRESSES = 3
_FAREWELLS = ("exit", "quit", ":q")
_AGAIN_S = 2.0
_KEYS = (
    "? help", "Esc stop", "Shift+Tab mode", "Alt+Enter new line", "^R history", "^O open call", "^B background", "^G editor",
    "^T todos", "^Y copy",
)  # fmt: skip


class ScreenApp(App[int]):
    """The screen of one engine.

    Attributes:
        busy: the engine works on something; `turning`: on a message.
        crash: what broke the engine by a defect of the program.
    """

    CSS_PATH = "screen.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [  # noqa: RUF012 - as Textual wants it
        Binding("ctrl+c", "interrupt", "Stop", priority=True),
        Binding("ctrl+d", "leave_empty", "Leave", priority=True),
        Binding("ctrl+q", "interrupt", show=False),
        Binding("escape", "escape", "Stop", show=False),
        Binding("shift+tab", "next_mode", "Mode", priority=True),
        Binding("ctrl+b", "to_background", "To the background", priority=True),
        Binding("ctrl+g", "edit_draft", "Editor", priority=True),
        Binding("ctrl+v", "paste_picture", "Paste an image", priority=True),
        Binding("ctrl+r", "search_typed", "History", priority=True),
        Binding("ctrl+l", "redraw", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", show=False, priority=True),
        Binding("ctrl+o", "open_last", "Open the last call", priority=True),
        Binding("ctrl+t", "todos", "Todos", priority=True),
        Binding("ctrl+y", "copy", "Copy", priority=True),
        Binding("ctrl+end", "end", "To the end", priority=True),
        Binding("pageup", "scroll(-1)", priority=True, show=False),
        Binding("pagedown", "scroll(1)", priority=True, show=False),
        Binding("f1", "keys", "Help", priority=True),
        Binding("f2", "theme", "Theme", priority=True),
    ]

    def __init__(self, engine: engines.Engine, *, cwd: Path, first: str = "") -> None:
        super().__init__(driver_class=TerminalDriver)
        self.engine = engine
        self._first = first
        self.no_color = not knows_colour(engine.environ)
        self.signs = Signs(unicode=knows_unicode(engine.environ))
        self.crash: BaseException | None = None
        self.transcript = Transcript(self.signs)
        self.completion = Completion()
        self.busy = False
        self.turning = False
        self.engine_data = data_dir(engine.environ)
        typed = Typed(self.engine_data, cwd)
        self.prompt = Prompt(
            typed, self.completion, placeholder="Ask, or / for commands, @ for files, ! for your shell"
        )
        self.working, self.todos, self.status = (Working(self.signs), Todos(self.signs), Parts(self.signs, id="status"))
        self.jobs, self.queue = Lines(id="jobs"), Lines(id="queue")
        self.choices = Choices(self)
        self.flow = Flow(self)
        self.prompt.offers, self.prompt.recalls = self.choices.offer, self.flow.give_back
        self.prompt.complains, self.prompt.root = self.choices.complain, engine.root
        self._pressed = 0
        self._again: dict[str, float] = {}

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What everything drawn goes through: nothing coloured where there are no colours."""
        filters = super().get_line_filters()
        if not self.no_color and self.signs.unicode:
            return filters

        filters = (Colourless(),) if self.no_color else filters
        return filters if self.signs.unicode else (*filters, Lookalikes())

    def compose(self) -> ComposeResult:
        """Transcript above, everything else below."""
        yield self.transcript
        with Vertical(id="below"):
            yield from (self.todos, self.jobs, self.working, self.queue, self.completion, self.prompt, self.status)
            yield Parts(self.signs, *_KEYS, id="keys")

    async def on_mount(self) -> None:
        """Begin."""
        for theme in themes():
            self.register_theme(theme)
        if isinstance(self._driver, TerminalDriver):  # nothing is drawn meanwhile: a light terminal never sees dark
            await asyncio.to_thread(self._driver.ground.known.wait, _TOLD_GROUND_S)
        self.theme = self.choices.theme()
        self.set_class(not self.signs.unicode, "-ascii")
        loop = asyncio.get_running_loop()
        here = contextvars.copy_context()

        def wake() -> None:
            with suppress(RuntimeError):  # the screen was left meanwhile
                loop.call_soon_threadsafe(self.flow.wanted, context=here)

        self.engine.link.attach(wake)
        self.engine.start()
        self.prompt.use_vim(wanted=self.engine.chat.workshop.settings.text("input_keys") == "vim")
        self.prompt.focus()
        await self.flow.opened()
        self.set_interval(_JOBS_S, self.flow.look_at_jobs)
        self.set_timer(_JOBS_S, self.choices.look_for_questions)
        self.set_interval(_WAITING_S, self.choices.look_for_questions)
        if self._first:
            await self.give(self._first)
        if isinstance(self._driver, TerminalDriver):
            self._driver.ready.set()

    @property
    def ground_is_light(self) -> bool | None:
        """What the terminal says about its background; None when it says nothing."""
        return self._driver.ground.light if isinstance(self._driver, TerminalDriver) else None

    def on_ground_told(self) -> None:
        """The terminal has answered after the first picture was drawn, or is another one since the program came back."""
        self.theme = self.choices.theme()

    def on_resize(self, event: Resize) -> None:
        """Leave out what a small terminal has no room for."""
        self.set_class(event.size.height < _SHORT, "-short")
        self.set_class(event.size.width < _NARROW, "-narrow")

    # -- what the person does

    async def on_prompt_sent(self, event: Prompt.Sent) -> None:
        """A message or a command."""
        await self.give(event.text, event.notes)

    async def give(self, text: str, notes: tuple[str, ...] = ()) -> None:
        """Give a line to the engine now, or when it is done with the one before; words steer a turn that goes on."""
        asked = is_command(text)
        if asked and await self.choices.own_command(text):
            return
        self.engine.chat.pasted.update(self.prompt.pictures)
        if self.busy:
            self.flow.queue_up(text, notes)
            return
        if text in _FAREWELLS:
            self.leave(0)
            return
        own = text.removeprefix("!").strip() if text.startswith("!") else ""
        self.busy, self.turning = True, not own and not asked
        await self.transcript.said(text)
        self.transcript.anchor()
        self.working.begin("thinks" if self.turning else "works", movable=bool(own))
        if own:
            await self.transcript.own_command(own)
            self.engine.shell(own)
        elif asked:
            self.engine.slash(text)
        else:
            self.engine.say(text, notes)

    def on_key(self, event: Key) -> None:
        """Whatever has the focus: what is typed goes into the input."""
        if len(self.screen_stack) == 1 and event.is_printable and event.character and self.focused is not self.prompt:
            event.stop()
            self.prompt.focus()
            self.prompt.insert(event.character)

    def action_interrupt(self) -> None:
        """Stop the turn; else clear the input; pressed again, leave. Pressing on leaves a turn that cannot be stopped."""
        self._pressed = self._pressed + 1 if self.busy else 0
        if self._pressed > _PRESSES:
            self.leave(130)
        elif self.busy:
            self.choices.withdraw()
            self.engine.stop()
        elif self._is_second("ctrl+c"):
            self.leave(0)
        else:
            self._behind_what_is_typed(self.prompt.keep_draft)
            self.working.tell("Press Ctrl+C again to leave", for_s=_AGAIN_S)

    def _behind_what_is_typed(self, action: Callable[[], object]) -> None:
        """Act on the draft when the input has taken every key pressed before: keys of the screen itself overtake them."""
        self.prompt.call_later(action)

    def action_escape(self) -> None:
        """Stop the turn; else, pressed twice, clear the input, or where it is empty go back to an earlier point."""
        self.prompt.focus()
        if self.busy:
            self.choices.withdraw()
            self.engine.stop()
        elif not self._is_second("escape"):
            told = "clear the input" if self.prompt.text else "go back to an earlier point"
            self.working.tell(f"Press Esc again to {told}", for_s=_AGAIN_S)
        elif self.prompt.text:
            self.prompt.keep_draft()
        else:
            self.run_worker(self.give("/restore"))

    def _is_second(self, key: str) -> bool:
        """Whether a key was pressed before within two seconds; the third press counts as a first one."""
        now = time.monotonic()
        second = now - self._again.pop(key, -_AGAIN_S) < _AGAIN_S
        if not second:
            self._again[key] = now
        return second

    def action_next_mode(self) -> None:
        """The next mode of work: ask before changes, change files without asking, no questions, plan only."""
        if len(self.screen_stack) == 1:
            self.prompt.focus()
            self.flow.next_mode()
        elif isinstance(self.screen, ApprovalScreen) and self.screen.about_files:
            self.flow.switch_mode("build", "on-failure")
            self.screen.dismiss(Reply(decision="once"))

    async def action_to_background(self) -> None:
        """Send the command that runs to the background; else the cursor goes left, as in a shell."""
        if len(self.screen_stack) == 1 and not (self.busy and await self.flow.to_background()):
            self._behind_what_is_typed(self.prompt.action_cursor_left)

    def action_edit_draft(self) -> None:
        """Go on writing the message in the person's editor."""
        if len(self.screen_stack) == 1:
            self._behind_what_is_typed(self.flow.edit_draft)

    def action_paste_picture(self) -> None:
        """Attach the image on the clipboard; where there is none, paste its text, or what was copied here."""
        if len(self.screen_stack) == 1:
            self.run_worker(self.choices.paste_clipboard, thread=True, exclusive=True, group="clipboard")

    def action_search_typed(self) -> None:
        """Search what was typed before."""
        if len(self.screen_stack) == 1:
            self.choices.search_typed()

    def action_redraw(self) -> None:
        """Draw everything anew."""
        self.refresh(repaint=True, layout=True)

    def action_leave_empty(self) -> None:
        """Leave when nothing is typed; else delete what is right of the cursor, as everywhere."""
        if len(self.screen_stack) == 1:
            self._behind_what_is_typed(self._delete_or_leave)

    def _delete_or_leave(self) -> None:
        if self.prompt.text:
            self.prompt.action_delete_right()
        else:
            self.leave(0)

    def leave(self, code: int) -> None:
        """Leave the screen; the session is kept."""
        self.choices.withdraw()
        self.engine.stop()
        self.exit(code, return_code=code)

    def action_open_last(self) -> None:
        """Open or close the newest call."""
        row = self.transcript.last_call()
        if row is not None:
            row.action_open()
            row.scroll_visible(animate=False)

    def action_todos(self) -> None:
        """Hide or show the todos."""
        self.todos.flip()

    def action_copy(self) -> None:
        """Copy the selected text, else the last answer."""
        answers = [text for kind, text in self.transcript.record if kind == "reply"]
        text = self.screen.get_selected_text() or (answers[-1] if answers else "")
        if text:
            self.copy_to_clipboard(text)

    def action_end(self) -> None:
        """Back to the newest."""
        self.transcript.anchor()

    def action_scroll(self, way: int) -> None:
        """Scroll by most of a page."""
        place = self.transcript if len(self.screen_stack) == 1 else self.screen.query_one(".body")
        place.scroll_relative(y=way * max(1, place.size.height - 2), animate=False)

    def action_keys(self) -> None:
        """Show the help."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(COMMANDS))

    def action_theme(self) -> None:
        """The next theme."""
        self.choices.set_theme(THEMES[(THEMES.index(self.theme) + 1) % len(THEMES)])
