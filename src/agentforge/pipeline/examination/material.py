"""What the examiner is shown beside the request and the public names: what a call is about, and the project before the change."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory

from agentforge.context.sections import Level, Piece, Section
from agentforge.events.kinds.examinations import EXAMINE
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.context.candidates import likely_views
from agentforge.pipeline.context.excerpts import code_view
from agentforge.pipeline.context.excerpts_of_tests import style_views
from agentforge.pipeline.examination.examiner import changed_files, kept_rows, phase, request_words
from agentforge.pipeline.examination.settlement import disputed, example_rows
from agentforge.pipeline.ledger.promises import undecided_examples
from agentforge.pipeline.model.prompt_text import terms_of
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Json, texts
from agentforge.workspace.code.bodies import bodies
from agentforge.workspace.code.relevance import rank
from agentforge.workspace.code.symbols import language_of

_CANDIDATES = 8
_OF_TESTS = 200
"""Tokens of tests of the project beside the nearest one: how they look is all that they are shown for."""


def pieces_of_phase(state: RunState, runtime: Runtime) -> list[Piece]:
    """What a call is about besides the request: the file that could not be run, or the tests that fail."""
    known = state.work.facts.get(EXAMINE, {})
    if phase(state) == "settle":
        told = _numbered("Test", disputed(kept_rows(state)))
        return [Piece(name="the tests that fail", text=told, level=Level.LAW, order=1)]
    read = [_read_examples(state)] if waiting_examples(state) else []
    if not known.get("unrunnable"):
        return read
    text = runtime.blobs.get(str(known["source"])).decode("utf-8", "replace")
    told = f"{text}\n\nThe runner said:\n{known['unrunnable']}"
    return [
        *read,
        Piece(
            name=f"your file {known.get('path')} could not be run: write it again", text=told, level=Level.LAW, order=1
        ),
    ]


def waiting_examples(state: RunState) -> list[Json]:
    """The examples about which nobody who reads the request has said anything yet."""
    return disputed(example_rows(undecided_examples(state), state.brief.request, kept_rows(state)))


def _read_examples(state: RunState) -> Piece:
    told = _numbered("Example", waiting_examples(state))
    return Piece(name="what a program read in the request", text=told, level=Level.LAW, order=1)


def _numbered(what: str, rows: Sequence[Json]) -> str:
    """Tests or examples that fail, as somebody who decides about them sees them."""
    return "\n\n".join(
        f"### {what} {number}\n{row.get('code')}\nWhat happens now: {row.get('got')}\n{_before_the_change(row)}".rstrip()
        for number, row in enumerate(rows, start=1)
    )


def _before_the_change(row: Json) -> str:
    """How a test that fails now came out at the base; nothing of an example that says so itself."""
    if row.get("example") and not row.get("before"):
        return ""
    told = "failed in the same way" if row.get("same") else str(row.get("before") or "could not be run")
    return f"Before the change it {told}."


def project_before(state: RunState, runtime: Runtime) -> list[Section]:
    """The project before the change: the files that were changed, how tests look there, and what else fits the request."""
    files, words = changed_files(state), request_words(state)
    tests = texts(state.work.facts.get("baseline", {}).get("test_files"))
    told = "as it was before the change"
    with TemporaryDirectory(prefix="agentforge-base-") as folder:
        root, terms = Path(folder) / "tree", terms_of(words)
        runtime.git.materialise(state.work.trees["baseline"], root)
        edits = {path: edited_lines(root / path, runtime.worktree / path) for path in files}
        views = [code_view(root, path, names=terms, lines=edits[path], state=told) for path in files]
        found = rank(root, terms, text=words, limit=_CANDIDATES)
        sources = [one for one in found if not one.is_test and one.path not in files and language_of(one.path)]
        styles = style_views(root, near=files, tests=tests, words=terms, likely=0, more=_OF_TESTS)
        return [
            *(one for one in views if one is not None),
            *likely_views(root, sources, bodies(root, sources)),
            *styles,
        ]


def edited_lines(before: Path, after: Path) -> list[int]:
    """The lines of a file as it was that the change took away or wrote beside: what is around them has to be seen whole."""
    try:
        old, new = (path.read_text("utf-8").split("\n") for path in (before, after))
    except (OSError, ValueError):
        return []
    places = SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    return sorted({max(1, first if tag == "insert" else first + 1) for tag, first, _, _, _ in places if tag != "equal"})
