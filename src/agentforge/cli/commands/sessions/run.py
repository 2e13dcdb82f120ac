"""`agentforge run`: one prompt, one answer; for scripts, pipes and people in a hurry."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from agentforge.app.sessions.display import (
    child_progress,
    child_words,
    ended,
    skill_words,
    unseen_words,
    unstarted,
    window_words,
)
from agentforge.app.sessions.headless import (
    Mark,
    allowed_names,
    answered,
    child_line,
    event_lines,
    opening_line,
    partial_line,
    result_value,
    schema_of,
    words_about,
)
from agentforge.app.sessions.mentions import mentioned
from agentforge.app.sessions.person import Nobody
from agentforge.app.tools.server_settings import UNTRUSTED
from agentforge.cli.output.terminal import cut, printable
from agentforge.cli.runs.stream_input import StreamedInput
from agentforge.cli.runs.trust_prompt import ensure_trust
from agentforge.cli.startup.command_context import Place, open_place, open_working_place
from agentforge.cli.startup.flag import Command, option, work_mode_option
from agentforge.cli.startup.form import Form, result_line, write_json
from agentforge.cli.startup.options import Bound, Duration, cwd_option, form_of, form_options, limits_of, plain
from agentforge.cli.startup.stdin import piped_text
from agentforge.errors import UsageError
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.safety.text.hygiene import clean

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat, ChatOptions, TurnResult

    pass

_MODES = ("on-request", "on-failure", "auto", "auto-edit", "never", "yolo")
_NUMBER, _MONEY = Bound(int), Bound(float)


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  agentforge run "explain the agent loop of this project"
  git diff | agentforge run "review this" --mode plan
  agentforge run "why is start-up slow?" --mode swarm
  agentforge run "make the tests pass" --approval auto --max-turns 30 --json
  agentforge run "and now the docs" --continue
  agentforge run --resume 3f2a        (finishes a turn that was interrupted)

\b
Exit codes: 0 done, 2 usage, 3 a call was not allowed, 4 a hook refused the prompt, 5 model, 6 a limit, 7 sandbox or tools,
8 the session is in use, 9 the session is damaged, 130 interrupted.
""",
)
@click.argument("prompt", required=False)
@option("--model", metavar="PROVIDER/NAME", help="Ask this model.")
@work_mode_option
@option("--approval", type=click.Choice(_MODES), default=None, help="What the agent may do without asking you.")
@option("--resume", "-r", "session", metavar="ID", default="", help="Continue this session.")
@option("--continue", "-c", "latest", is_flag=True, help="Continue the last session of this folder.")
@option("--name", default="", help="Give the session this name.")
@option(
    "--max-turns", type=click.IntRange(min=1), default=None, help="Stop after this many model calls for this prompt."
)
@option("--budget-tokens", type=_NUMBER, help="Stop after this many tokens for this prompt.")
@option(
    "--budget-usd",
    type=_MONEY,
    help="Stop after this much money for this prompt; a model without a known price counts as zero.",
)
@option("--deadline", type=Duration(), help="Stop after this working time for this prompt: 90, 5m, 1h.")
@option(
    "--allowed-tools",
    multiple=True,
    metavar="NAMES",
    help="Offer only these tools; shell(git *) also allows the calls.",
)
@option("--add-note", "notes", multiple=True, metavar="TEXT", help="Send this text with the prompt; repeatable.")
@option(
    "--append-system-prompt", "more_system", multiple=True, metavar="TEXT", help="Add to the instructions; repeatable."
)
@option("--json-schema", metavar="SCHEMA|FILE", default="", help="Answer with JSON that is valid against this schema.")
@option(
    "--input-format",
    type=click.Choice(("text", "stream-json")),
    default="text",
    help='stream-json: every line of standard input is a message; with "steer": true it reaches the running turn.',
)
@option("--include-partial-messages", "pieces", is_flag=True, help="Stream the pieces of a reply as they come in.")
@option(
    "--bare", is_flag=True, help="Use the shortest instructions and seven tools, nothing of the project, and no memory."
)
@option("--trust", is_flag=True, help="Use the hooks, tools and instructions that the project brings.")
@cwd_option
@form_options
def run(prompt: str | None, output_format: Form, as_json: bool, **given: Any) -> int:
    """Give PROMPT to the agent and print its answer; "-", or no PROMPT, reads it from standard input.

    With a PROMPT, standard input goes to the agent as material. On a terminal and without a PROMPT, this opens the
    interactive agent.
    """
    form = form_of(output_format, as_json=as_json)
    schema = schema_of(given["json_schema"]) if given["json_schema"] else None
    streamed = _is_streamed(given, form=form, prompt=prompt)
    if prompt is None and form == "text" and sys.stdin.isatty() and not given["session"] and not given["latest"]:
        from agentforge.cli.runs.chat_loop import talk  # brings the screen

        return talk({**given, "last": False, "plain": False})
    place, session = _place_of(given)
    text, material = ("", ()) if streamed else _prompt(prompt, resumes=bool(session))
    options, rules = _options(given, place, session, schema)
    notes = (*given["notes"], *material)
    with _stoppable(), _opened(options, place, form, pieces=given["pieces"]) as chat:
        chat.desk.rules += rules
        for note in chat.notes:
            sys.stderr.write(f"note: {printable(note)}\n")
        if form == "stream-json":
            write_json(opening_line(chat), form=form)
        code = 0
        for said in StreamedInput(chat).messages() if streamed else (text,):
            turn = partial(_structured, chat, said, notes, schema)
            code = _driven(chat, turn, form=form) or code
            for _, error in chat.inbox.refused:
                sys.stderr.write(f"note: a message was not handed over: {printable(str(error))}\n")
            chat.inbox.refused = []
        if chat.workshop.running():
            sys.stderr.write("note: what ran in the background ends with this command\n")
        _tell_left_out(chat)
        return code


def _is_streamed(given: dict[str, Any], *, form: Form, prompt: str | None) -> bool:
    """Whether messages come as JSON lines.

    Raises:
        UsageError: what was asked for does not go together.
    """
    streamed: bool = given["input_format"] == "stream-json"
    if streamed and (form != "stream-json" or prompt not in (None, "-")):
        raise UsageError(
            "--input-format stream-json goes with --output-format stream-json and without a prompt",
            hint="every line of standard input is a message",
        )
    if given["pieces"] and form != "stream-json":
        raise UsageError("--include-partial-messages goes with --output-format stream-json", hint="add it")
    return streamed


def _structured(chat: Chat, text: str, notes: tuple[str, ...], schema: Mapping[str, object] | None) -> TurnResult:
    result = _turn(chat, text, notes)
    return answered(schema, result, chat.say) if schema is not None else result


def _tell_left_out(chat: Chat) -> None:
    """What of the project was not used."""
    if chat.notices:
        sys.stderr.write("".join(f"note: {printable(notice)}\n" for notice in chat.notices))


def _turn(chat: Chat, text: str, notes: tuple[str, ...]) -> TurnResult:
    """A turn that was cut off is ended first."""
    if chat.state.talk.open:
        result = chat.go_on()
        if not text or result.outcome != "completed":
            return result
    elif not text:
        raise UsageError("the session's last turn ended; there is nothing to continue", hint="give a prompt")
    if "@" not in text:
        return chat.say(text, notes=notes)

    found = mentioned(chat, text)
    sys.stderr.write("".join(f"note: {printable(line)}\n" for line in found.shown))
    return chat.say(text, notes=(*notes, *found.notes), sources=found.sources, pictures=found.pictures)


def _driven(chat: Chat, turn: Callable[[], TurnResult], *, form: Form) -> int:
    from agentforge.app.sessions.chat import TurnResult

    since, began = Mark.of(chat.state), time.monotonic()
    try:
        result = turn()
    except KeyboardInterrupt:
        chat.drop(outcome="interrupted", reason="it was interrupted")
        result = TurnResult(text=chat.state.talk.last_words(), outcome="interrupted", reason="it was interrupted")
    value = result_value(chat, result, since=since, duration_ms=int((time.monotonic() - began) * 1000))
    if form == "text":
        _show(value, streamed=sys.stdout.isatty(), work=chat.work.lines())
    else:
        write_json(result_line(value, form=form), form=form)
    return int(value["exit_code"])


def _show(value: dict[str, Any], *, streamed: bool, work: tuple[str, ...]) -> None:
    if not streamed and value["result"]:
        sys.stdout.write(value["result"].rstrip("\n") + "\n")
    sys.stdout.flush()
    if value.get("swarm"):
        sys.stderr.write(f"note: {printable(value['swarm']['told'])}\n")
    for name, why in value.get("not_loaded", {}).items():
        if why.endswith(UNTRUSTED):  # told at the beginning
            continue
        sys.stderr.write(f"note: not loaded: {printable(name)}: {printable(why)}\n")
    for line in work:
        sys.stderr.write(f"note: {printable(line)}\n")
    for denial in value["permission_denials"]:
        sys.stderr.write(f"denied: {printable(denial['tool_name'])}: {printable(denial['reason'])}\n")
    if value["is_error"]:
        how = value["outcome"] if value["outcome"] != "completed" else "denied"
        sys.stderr.write(f"{how}: {printable(value['reason'])}\n")
        if value["outcome"] not in ("blocked", "completed"):
            sys.stderr.write(f'go on with: agentforge run "..." --resume {value["session_id"]}\n')


def _opened(options: ChatOptions, place: Place, form: Form, *, pieces: bool) -> Chat:
    from agentforge.app.sessions.chat import Chat

    return Chat.open(options, _face(form, pieces=pieces), settings=place.settings, environ=place.environ)


def _face(form: Form, *, pieces: bool) -> Nobody:
    """Nobody is here; what happens is streamed where somebody looks."""
    if form == "stream-json":
        return Nobody(heard=_tell, delta=_tell_partial if pieces else None, child=_tell_child)
    if form == "text" and sys.stdout.isatty():
        return Nobody(delta=_stream, heard=_tell_call, child=_show_child)
    return Nobody(heard=_tell_window)


def _tell(event: Event, state: RunState) -> None:
    for line in event_lines(event, state):
        write_json(line, form="stream-json")


def _tell_child(name: str, event: Event, state: RunState) -> None:
    line = child_line(name, event, state)
    if line is not None:
        write_json(line, form="stream-json")


def _show_child(name: str, event: Event, state: RunState) -> None:
    if isinstance(event, kinds.ToolFinished):
        sys.stdout.write(
            cut(f"  {printable(child_progress(name, ended(unstarted(event, state), event), state))}", 120) + "\n"
        )


def _tell_partial(text: str) -> None:
    write_json(partial_line(clean(text)), form="stream-json")


def _tell_window(event: Event, _state: RunState) -> None:
    """What is no part of the answer but has to be known: the window fills, a skill was called for, what a subagent cost."""
    told: tuple[str, ...] = ()
    if isinstance(event, kinds.WindowFilling | kinds.HistoryCompacted):
        told = (window_words(event),)
    elif isinstance(event, kinds.SessionChanged):
        told = tuple(skill_words(event))
    elif isinstance(event, kinds.ChildFinished):
        told = (child_words(event),)
    elif isinstance(event, kinds.ModelReplied):
        told = tuple(filter(None, [unseen_words(event)]))
    sys.stderr.write("".join(f"note: {printable(words)}\n" for words in told))


def _tell_call(event: Event, state: RunState) -> None:
    """At a terminal: one line for each call, and a line end behind what was streamed."""
    _tell_window(event, state)
    if isinstance(event, kinds.ModelReplied) and event.text and not event.text.endswith("\n"):
        sys.stdout.write("\n")
    elif isinstance(event, kinds.ToolFinished):
        sys.stdout.write(cut(f"  {event.name}: {printable(event.summary)}", 120) + "\n")
    sys.stdout.flush()


def _stream(text: str) -> None:
    sys.stdout.write(clean(text))
    sys.stdout.flush()


def _place_of(given: dict[str, Any]) -> tuple[Place, str]:
    """Where the work happens, and which session goes on; a session stays in its own folder."""
    place = open_working_place(given["cwd"], trusting=given["trust"])
    session = given["session"]
    if session and given["latest"]:
        raise UsageError("--resume and --continue cannot be used together", hint="--continue takes the last session")
    if given["latest"]:
        from agentforge.app.sessions.closed_sessions import last_session

        session = last_session(place.environ, cwd=place.cwd)
    if session:
        from agentforge.app.sessions.closed_sessions import folder_of_session

        there = folder_of_session(place.environ, session)
        place = open_place(str(there), trusting=given["trust"]) if there not in (None, place.cwd) else place
    if given["trust"]:
        place = ensure_trust(place, given=True, kinds=None)
    return place, session


def _options(
    given: dict[str, Any], place: Place, session: str, schema: Mapping[str, object] | None
) -> tuple[ChatOptions, tuple[str, ...]]:
    from agentforge.app.sessions.chat import ChatOptions

    names: tuple[str, ...] | None = None
    rules: tuple[str, ...] = ()
    if given["allowed_tools"]:
        names, rules = allowed_names(_listed(given["allowed_tools"]))
    return ChatOptions(
        cwd=place.cwd,
        session=session,
        name=given["name"],
        model=given["model"],
        approval=given["approval"] or "",
        work_mode=given["work_mode"] or "",
        max_turns=given["max_turns"] or 0,
        limits=plain(limits_of(given)),
        allowed_tools=names,
        bare=given["bare"],
        more_system="\n\n".join([*given["more_system"], *([words_about(schema)] if schema is not None else [])]),
    ), rules


def _listed(values: tuple[str, ...]) -> tuple[str, ...]:
    """Names separated by commas or spaces; those within brackets separate nothing."""
    out, depth, word = [], 0, ""
    for char in " ".join(values):
        depth += (char == "(") - (char == ")")
        if char in ", " and depth <= 0:
            out.append(word)
            word = ""
        else:
            word += char
    return tuple(one for one in (*out, word) if one)


def _prompt(prompt: str | None, *, resumes: bool) -> tuple[str, tuple[str, ...]]:
    """The prompt, and what stands on standard input beside it."""
    if prompt not in (None, "-"):
        assert prompt is not None
        if not prompt.strip():
            raise UsageError("the prompt is empty", hint='agentforge run "explain this project"')
        given = piped_text(waits=False)
        return prompt, ((f"From standard input:\n{given}",) if given.strip() else ())
    if prompt is None and sys.stdin.isatty():
        if resumes:
            return "", ()
        raise UsageError("there is no prompt", hint='agentforge run "explain this project"')
    text = piped_text(waits=prompt == "-" or not resumes)
    if not text.strip() and not (resumes and prompt is None):
        raise UsageError("the prompt is empty", hint='agentforge run "explain this project"')
    return text.strip() and text, ()


class _stoppable:  # noqa: N801 - a context manager, used like a function
    """SIGTERM ends the turn as Ctrl-C does: the session stays whole, children end."""

    def __enter__(self) -> None:
        def stop(_number: int, _frame: object) -> None:
            raise KeyboardInterrupt

        self._before = signal.signal(signal.SIGTERM, stop)

    def __exit__(self, *_error: object) -> None:
        signal.signal(signal.SIGTERM, self._before)
