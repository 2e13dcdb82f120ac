"""What a stage is: a record and a few pure functions. No executor classes; retries, limits and escalation are decide's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from agentforge.agent import Effect
from agentforge.events.kinds.choices import Choice
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass

Json = Mapping[str, object]
Writes = Literal["none", "tests", "product"]
First = Callable[[RunState, Sequence[str]], Effect | None]
"""Tells what is left to do before a stage begins, by the state and the names of all stages; None when nothing is."""

ACTIONS = ("create", "modify", "delete", "refactor", "fix", "analyze")
CHANGING = ("create", "modify", "delete", "refactor", "fix")


@dataclass(frozen=True, slots=True, kw_only=True)
class StageQuestion:
    """Something that only a human can settle. `key` tells the questions of a stage apart; `context` is kept with it.

    Attributes:
        closed: one of the options is the answer, and no other words are.
        choices: all that can be answered, each with what follows, where the options do not say it.
    """

    key: str
    text: str
    reason: str
    options: tuple[str, ...] = ()
    context: tuple[tuple[str, object], ...] = ()
    closed: bool = False
    choices: tuple[Choice, ...] = ()


def _always(_state: RunState) -> bool:
    return True


READING = ("read_file", "grep", "find_symbol", "outline", "glob", "list_dir", "shell")
"""The tools by which a stage looks at the code; a shell of a stage that writes nothing changes nothing."""


def _draft_goes_ahead(_draft: Json) -> bool:
    return True


def _no_draft(_state: RunState) -> dict[str, object]:
    return {}


def _no_questions(_state: RunState) -> tuple[StageQuestion, ...]:
    return ()


def _nothing(_state: RunState) -> Effect | None:
    return None


def _as_drafted(_state: RunState, draft: Json, _facts: Json) -> dict[str, object]:
    return dict(draft)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage of the pipeline.

    Attributes:
        produces: the contract of its artifact.
        consumes: stages whose artifacts it reads.
        purpose: one line, for people.
        criteria: success criteria, shown to the model in the task frame.
        tools: what the model may call; enforced at dispatch.
        writes: what the stage may write: nothing, test files, or the files of the specification.
        omit: fields of the contract that the harness writes; not asked of the model.
        actions: the actions of a request that need this stage.
        needs_model: False when the artifact follows from what is known.
        draft: the harness's draft when no model is needed.
        complete: draft + facts -> artifact; writes the harness's fields.
        questions: what must be asked of a human once the facts of a draft are known.
        rejected_to: the stage that a human's rejection goes back to, "" = this one.
        after: of a stage that is added from outside: the stage behind which it stands; "" for those of the house.
        prompt: of an added stage: what the model is told to do; those of the house have a file in `prompts`.
        scope: the product files that it may write; None = those of the specification, sign for sign.
        files: of an added stage that writes: patterns of the files it may write instead of those of the specification.
        contract: of an added stage: the YAML of its contract, where no file of the project holds it.
        shown_to: of an added stage: later stages whose model is shown its artifact.
        ahead: later stages whose artifacts the same reply may hold, in their order; () = one reply, one artifact.
        ahead_tools: what the model may call besides where the reply may go ahead.
        goes_ahead: whether a draft of this stage leaves nothing open that could change what stages behind it make.
        followed_by: the later stage whose calls may stand behind the submission in the same reply, up to its own; "" = none.
        keeps_reading: what the stages before it read stands in its context, too.
        begins_with: what is done before the stage begins, one after the other.
        on_passed: what follows from a verdict that passed, before the stage has passed.
        on_stuck: what follows when all attempts are used up, in the place of the question to a human.
        still_follows: whether what it had before it was opened again can still be right. Code is judged by the tests, and an
            analysis by the files, whatever was changed before them.
        takes_tests: tests that the user supplies take the place of its work.
        contests: the earlier stage that reads a question about its own work before a human does, once in a run; "" = none.
        asks_of_awaited: it may ask a human where the run waited for another task, whose results may not be what was promised.
        measures_any_shape: its drafts are measured even where they break their shape, so that every finding comes at once.
        shows_whole_change: a question about it shows all that changed since the base, not its own change alone.
        shown: its artifact as people read it; None = as it is recorded.
    """

    name: str
    produces: str
    consumes: tuple[str, ...]
    purpose: str
    complete: Callable[[RunState, Json, Json], dict[str, object]] = _as_drafted
    criteria: tuple[str, ...] = ()
    tools: tuple[str, ...] = ("submit_artifact",)
    writes: Writes = "none"
    omit: tuple[str, ...] = ()
    actions: tuple[str, ...] = CHANGING
    needs_model: Callable[[RunState], bool] = _always
    draft: Callable[[RunState], dict[str, object]] = _no_draft
    questions: Callable[[RunState], tuple[StageQuestion, ...]] = _no_questions
    rejected_to: str = ""
    after: str = ""
    prompt: str = ""
    scope: Callable[[RunState], tuple[str, ...]] | None = None
    files: tuple[str, ...] = ()
    contract: str = ""
    shown_to: tuple[str, ...] = ()
    ahead: tuple[str, ...] = ()
    ahead_tools: tuple[str, ...] = ()
    goes_ahead: Callable[[Json], bool] = _draft_goes_ahead
    followed_by: str = ""
    keeps_reading: bool = False
    begins_with: tuple[First, ...] = ()
    on_passed: Callable[[RunState], Effect | None] = _nothing
    on_stuck: Callable[[RunState], Effect | None] = _nothing
    still_follows: Callable[[RunState], bool] = _always
    takes_tests: bool = False
    contests: str = ""
    asks_of_awaited: bool = False
    measures_any_shape: bool = False
    shows_whole_change: bool = False
    shown: Callable[[Json], str] | None = None


def needs_no_model(_state: RunState) -> bool:
    """For a stage whose artifact follows from what is known."""
    return False


def action_of(state: RunState) -> str:
    """The action of the request, "" before INTAKE has passed."""
    intent = state.work.artifacts.get("intake", {}).get("extracted_intent")
    return str(intent.get("action", "")) if isinstance(intent, Mapping) else ""


def items(value: object) -> list[Mapping[str, object]]:
    """The mappings of a list, and nothing else: drafts are a model's and may hold anything."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, (list, tuple)) else []


def texts(value: object) -> list[str]:
    """The non-empty strings of a list."""
    return [item for item in value if isinstance(item, str) and item] if isinstance(value, (list, tuple)) else []
