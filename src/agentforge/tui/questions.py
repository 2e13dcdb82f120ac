"""What stops the agent until the person answers: a call that needs approval, a question of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Markdown, Static

from agentforge.app.sessions.person import Question, Reply
from agentforge.safety.text.hygiene import clean
from agentforge.tui.diffs import DiffView, counts
from agentforge.tui.looks import markdown_parser

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Key
    from textual.timer import Timer

_COMMAND = 4_000
_DIFF = 2_000
_RULES = 30
_BRIEF, _HEAD, _END = 100, 50, 45
_LEAST = 3
_AROUND = 3
"""Rows of a question's card beside its parts: the border and the title."""
_DECISIONS = {
    "y": "y", "1": "y", "enter": "y", "a": "a", "2": "a", "n": "n", "3": "n", "escape": "escape",
}  # fmt: skip


class ApprovalScreen(ModalScreen["Reply | None"]):
    """A call, why it is asked about, what it would change; once, always (the narrow rule), or no with a reason.

    Args:
        guarded: the person was typing as this came up: keys are taken only after the next pause of `grace_s`.
    """

    AUTO_FOCUS = ""
    grace_s = 0.7

    def __init__(self, question: Question, *, guarded: bool) -> None:
        super().__init__()
        self.question = question
        self._guarded = guarded
        self._pause: Timer | None = None

    def compose(self) -> ComposeResult:
        """The card."""
        question = self.question
        with Vertical(classes="card"):
            yield Static(self._title(), classes="title")
            with VerticalScroll(classes="body", can_focus=False):
                if question.diff:
                    yield DiffView(question.diff, most=_DIFF)
                else:
                    yield Static(Content(clean(question.text)[:_COMMAND].strip("\n")), classes="what")
                yield Static(Content.styled(_brief(question.reason), "$foreground-muted"))
                for offer in question.offers:
                    yield Static(_offer(offer), classes="offer")
            yield Static(self._keys(), classes="keys")
            reason = Input(placeholder="why not? Enter sends it to the agent", id="reason")
            reason.display = False
            yield reason

    def _title(self) -> Content:
        question = self.question
        what = f"Allow {question.tool}?" if question.tool else "A hook asks: allow it?"
        if not question.diff:
            return Content.styled(what, "bold $warning")
        return Content.assemble(
            (what, "bold $warning"), f"  {clean(question.text)}", (f"  {counts(question.diff)}", "$foreground-muted")
        )

    def on_mount(self) -> None:
        """Wait for a pause where the person was typing."""
        if self._guarded:
            self._pause = self.set_timer(self.grace_s, self._unguard)
        self.call_after_refresh(self._make_room)

    def on_resize(self) -> None:
        """The card takes another height in another width."""
        self.call_after_refresh(self._make_room)

    def on_unmount(self) -> None:
        """What lies below is seen whole again."""
        self._room(0)

    def _make_room(self) -> None:
        """Push up what was said: it is what the decision is about."""
        if self.is_attached:
            self._room(self.query_one(".card").region.height)

    def _room(self, height: int) -> None:
        below = self.app.screen_stack[0].query_one("#below")
        self.app.screen_stack[0].query_one("#transcript").styles.margin = (0, 0, max(0, height - below.size.height), 0)

    def on_key(self, event: Key) -> None:
        """Take the decision."""
        if self.query_one("#reason", Input).display:
            if event.key == "escape":
                event.stop()
                self.dismiss(Reply(decision="reject"))
            return
        if event.key in ("up", "down", "pageup", "pagedown"):
            self.query_one(".body", VerticalScroll).scroll_relative(
                y=-3 if event.key.endswith("up") else 3, animate=False
            )
            return
        event.stop()
        if self._guarded:
            if self._pause is not None:
                self._pause.reset()
            return
        self._decide(event.key)

    @property
    def about_files(self) -> bool:
        """Whether a change of files is asked about, and keys are taken."""
        return bool(self.question.diff) and not self._guarded

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The reason is told."""
        event.stop()
        self.dismiss(Reply(decision="reject", text=event.value.strip()))

    def _decide(self, pressed: str) -> None:
        key = _DECISIONS.get(pressed, "")
        if key == "y":
            self.dismiss(Reply(decision="once"))
        elif key == "a" and self.question.offers:
            self.dismiss(Reply(decision="always"))
        elif key == "escape":
            self.dismiss(Reply(decision="reject"))
        elif key == "n":
            reason = self.query_one("#reason", Input)
            reason.display = True
            self.query_one(".card").add_class("asks-why")
            reason.focus()

    def _unguard(self) -> None:
        self._guarded = False
        self.query_one(".keys", Static).update(self._keys())

    def _keys(self) -> Content:
        if self._guarded:
            return Content.styled("you were typing: keys are taken after a pause", "$foreground-muted")
        keys = [
            ("y", "allow once"),
            *([("a", f"always {_rules(self.question)}".rstrip())] if self.question.offers else []),
            *([("shift+tab", "all edits")] if self.question.diff else []),
            ("n", "no, and why"),
            ("esc", "no"),
        ]
        return Content("   ").join(Content.assemble((key, "bold $primary"), f" {word}") for key, word in keys)


def _rules(question: Question) -> str:
    """What "always" would let pass where a diff stands before the rules; else they are in sight."""
    rules = ", ".join(offer.rule.partition("(")[2].removesuffix(")") or offer.rule for offer in question.offers)
    if not question.diff:
        return ""
    return rules if len(rules) <= _RULES else f"({len(question.offers)} rules)"


def _brief(text: str) -> str:
    """A text of several lines, such as a rule for a whole script, on one line; its end, where a rule is open, stays."""
    line = " ".join(text.split())
    return line if "\n" not in text.strip() or len(line) <= _BRIEF else f"{line[:_HEAD]} ... {line[-_END:]}"


def _offer(offer: object) -> Content:
    rule, matches = _brief(getattr(offer, "rule", "")), "; ".join(map(_brief, getattr(offer, "matches", ())))
    still = "; ".join(map(_brief, getattr(offer, "still_asked", ())))
    rows = [
        Content.assemble(
            ("always allows ", "$foreground-muted"), (rule, "bold"), (" for this session", "$foreground-muted")
        ),
        Content.styled(f"  lets pass: {matches}", "$foreground-muted") if matches else None,
        Content.styled(f"  still asks: {still}", "$foreground-muted") if still else None,
    ]
    return Content("\n").join(row for row in rows if row is not None)


class QuestionScreen(ModalScreen["str | None"]):
    """A question: choose with the arrows or by number, or type an answer.

    Args:
        formatted: the question is Markdown.
        guarded: the person was typing as this came up: nothing stands under the cursor yet, so that Enter chooses nothing.
        explained: options that need words: who chooses one is asked for them, and they are the answer.
    """

    BINDINGS = [("escape", "dismiss(None)", "No answer")]  # noqa: RUF012 - as Textual wants it

    def __init__(
        self,
        question: str,
        options: tuple[str, ...] = (),
        *,
        title: str = "The agent asks",
        formatted: bool = False,
        guarded: bool = False,
        explained: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        self._explained = explained
        self._formatted = formatted
        self._question = question
        self._options = options
        self._title = title
        self._at = -1 if guarded else 0
        self._doubted = ""

    def compose(self) -> ComposeResult:
        """The card."""
        question = clean(self._question)
        with Vertical(classes="card"):
            yield Static(Content.styled(self._title, "bold $accent"), classes="title")
            with VerticalScroll(classes="body", can_focus=False):
                if self._formatted:
                    yield Markdown(question, classes="what", open_links=False, parser_factory=markdown_parser)
                else:
                    yield Static(Content(question), classes="what")
            yield Static(self._rows(), id="options")
            hint = "or a number, or your own words" if self._options else "your answer"
            yield Input(placeholder=hint, id="answer")
            keys = [("up, down", "move"), ("enter", "answer"), ("esc", "no answer")][0 if self._options else 1 :]
            shown = [Content.assemble((key, "bold $primary"), f" {word}") for key, word in keys]
            yield Static(Content("   ").join(shown), classes="keys")

    def _rows(self) -> Content:
        """The options; the one under the cursor is marked."""
        rows = [
            Content.assemble((f"{'>' if at == self._at else ' '} {at + 1} ", "bold $primary"), clean(option))
            for at, option in enumerate(self._options)
        ]
        if self._doubted:
            doubt = f"  there is no choice {self._doubted}; Enter again answers with these words"
            rows.append(Content.styled(doubt, "$warning"))
        return Content("\n").join(rows)

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one("#options").display = bool(self._options)
        self.query_one("#answer", Input).focus()
        self.call_after_refresh(self._make_room)

    def on_resize(self) -> None:
        """The options take another height in another width."""
        self.call_after_refresh(self._make_room)

    def _make_room(self) -> None:
        """Let a long question scroll, so that the options and the answer stay in sight."""
        if self.is_attached:
            below = [widget.outer_size.height for widget in self.query("#options, #answer, .keys") if widget.display]
            self.query_one(".body").styles.max_height = max(_LEAST, self.app.size.height - sum(below) - _AROUND)

    def on_key(self, event: Key) -> None:
        """Move over the options, or through a long question."""
        if event.key in ("pageup", "pagedown"):
            way = -1 if event.key == "pageup" else 1
            self.query_one(".body", VerticalScroll).scroll_relative(y=way * 5, animate=False)
        elif event.key in ("up", "down") and self._options:
            self._move(max(0, self._at + (-1 if event.key == "up" else 1)))
        else:
            return
        event.stop()
        event.prevent_default()

    def _move(self, to: int) -> None:
        self._at = min(to, len(self._options) - 1)
        self.query_one("#options", Static).update(self._rows())

    def on_input_changed(self, event: Input.Changed) -> None:
        """A number moves the cursor to its option."""
        event.stop()
        text = event.value.strip()
        if text.isdecimal() and 1 <= int(text) <= len(self._options):
            self._move(int(text) - 1)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer."""
        event.stop()
        text = event.value.strip()
        number = int(text) - 1 if text.isdecimal() else self._at if not text else -1
        if 0 <= number < len(self._options):
            text = self._options[number]
        elif text.isdecimal() and self._options and self._doubted != text:
            self._doubted = text
            self._move(self._at)
            self.call_after_refresh(self._make_room)
            return
        if text in self._explained:
            self._explained = ()
            event.input.value = ""
            event.input.placeholder = "what should be different? Enter sends it"
            self._move(number)
        elif text:
            self.dismiss(text)
