"""The material of the first stages: the request, the code that most likely matters to it, and what other tasks delivered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agentforge.context.render import render
from agentforge.context.sections import Level, Piece, Section, View
from agentforge.errors import AgentForgeError
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.context.candidates import candidate_text, likely_views
from agentforge.pipeline.context.test_mentions import named_in_tests
from agentforge.pipeline.engine.joint_replies import stages_ahead
from agentforge.pipeline.facts.speed import wanted_text
from agentforge.pipeline.ledger.asks import numbered
from agentforge.pipeline.ledger.entries import entries_in, ledger_of, ledger_rows, numbered_request
from agentforge.pipeline.model.prompt_text import baseline_text, prompt_text, terms_of
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Stage, items
from agentforge.workspace.code.bodies import Body, bodies
from agentforge.workspace.code.relevance import RelevantFile, rank
from agentforge.workspace.code.sketch import sketch
from agentforge.workspace.code.symbols import Symbol, language_of
from agentforge.workspace.git.queries import top_level
from agentforge.workspace.git.repository import Git

_BADGE = r"!\[|badge|https?://|^\.\. (image|\|)|^\s*:(target|alt):|^[=~-]+$"
_CANDIDATES = 8
_MAP_SHARE = 10
"""Per cent of a step that the map of the sources may take: with less, whole files have no name in it."""
_TESTS_SHOWN, _TESTS_NAMED = 2, 3
"""Likely test files and bodies of theirs that may be shown, and how many of their tests are named."""
_NAMED, _NAMED_SHARE = 4, 4
"""Of so many likely definitions the existing tests are told that name them, and how many per cent of a step that may take."""
_TESTS_BEHIND = 5000
"""The order of tests: behind everything of the product."""
_ENTRIES = 40
_READMES = ("README.md", "README.rst", "README.txt", "README", "readme.md", "Readme.md")
_STAGES = ("analyze", "spec", "red", "green")


def of_intake(state: RunState, runtime: Runtime) -> list[Section]:
    """The request alone; with the code that later stages need, where the reply may serve them, too."""
    ahead = stages_ahead(runtime.stages["intake"], state, runtime)
    if not ahead:
        sketch = Piece(name="repository", text=_sketch(state, runtime), level=Level.SKETCH, foreign=True)
        return [_request(state), sketch]

    runtime.ready()
    asks = entries_in({"asks": ledger_rows(state.brief.request)})
    return [
        replace(_request(state), text=numbered(state.brief.request, [(one.number, one.start) for one in asks])),
        *_told_of(ahead),
        Piece(name="top of the repository", text=_top(state, runtime), level=Level.LIKELY, foreign=True, ends=True),
        *_candidates(state.brief.request, runtime),
    ]


def _told_of(ahead: Iterable[Stage]) -> Iterator[Piece]:
    """What the model of a stage would be told, for a reply that may hold that stage's artifact, too."""
    for one in ahead:
        yield Piece(name=f"`{one.name}`", text=prompt_text(one.name), level=Level.LAW)


def of_clarify(state: RunState, runtime: Runtime) -> list[Section]:
    """The open questions, and where their answers may stand."""
    questions = state.work.artifacts["intake"].get("identified_ambiguities")
    asked = " ".join(str(item.get("question", "")) for item in items(questions))
    return [
        Piece(name="questions", text=render(questions), level=Level.LAW),
        _request(state),
        *_candidates(f"{state.brief.request} {asked}", runtime),
    ]


def of_analyze(state: RunState, runtime: Runtime) -> list[Section]:
    """The request and what is settled about it, how the tests run, and the likeliest code."""
    intent = state.work.artifacts["intake"].get("extracted_intent")
    answers = " ".join(
        str(row.get("answer", "")) for row in items(state.work.artifacts.get("clarify", {}).get("questions"))
    )
    ahead = stages_ahead(runtime.stages["analyze"], state, runtime)
    return [
        numbered_piece(state),
        clarified_piece(state),
        *_told_of(ahead),
        *([Piece(name="a measurement is wanted", text=wanted_text(state), level=Level.LAW)] if ahead else []),
        baseline_piece(state),
        *_candidates(f"{answers} {state.brief.request} {render(intent)}", runtime),
    ]


def _request(state: RunState) -> Piece:
    return Piece(
        name="the request, verbatim", text=state.brief.request, level=Level.LAW, note="a long request is cut here"
    )


def numbered_piece(state: RunState) -> Piece:
    """The request with the numbers by which the specification says what becomes of its asks."""
    return Piece(
        name="the request, verbatim, its asks numbered" if len(ledger_of(state)) > 1 else "the request, verbatim",
        text=numbered_request(state),
        level=Level.LAW,
        note="a long request is cut here",
    )


def clarified_piece(state: RunState) -> Piece:
    """What CLARIFY settled."""
    rows = items(state.work.artifacts.get("clarify", {}).get("questions"))
    text = "\n".join(f"- {row.get('question')} -> {row.get('answer')} ({row.get('source')})" for row in rows)
    return Piece(name="clarifications (binding)", text=text, level=Level.LAW)


def baseline_piece(state: RunState) -> Piece:
    """How the tests run."""
    return Piece(name="how tests run, at the base commit (measured)", text=baseline_text(state), level=Level.LAW)


def _candidates(words: str, runtime: Runtime) -> list[Section]:
    """Files and definitions that most likely matter, a map of all the others, and source as far as there is room."""
    terms, tree = terms_of(words), runtime.guard.known()
    found = rank(runtime.worktree, terms, text=words, limit=_CANDIDATES, tree=tree)
    sources, tests = ([item for item in found if item.is_test == told] for told in (False, True))
    likely = bodies(runtime.worktree, sources)
    drawn = Piece(
        name="map of the sources (the likeliest first; each definition with its line, members in brackets)",
        text=sketch(
            runtime.worktree, sources, room=runtime.step_tokens * _MAP_SHARE // 100, likely=_likely(likely), tree=tree
        ),
        level=Level.LIKELY,
        foreign=True,
        ends=True,
    )
    naming = Piece(
        name="existing tests that name it",
        text=named_in_tests(
            runtime.worktree,
            [one.path for one in tests if language_of(one.path)],
            [one.symbol.name for one in likely[:_NAMED]],
        ),
        level=Level.LIKELY,
        share=_NAMED_SHARE,
        foreign=True,
        ends=True,
    )
    listed = Piece(
        name="tests that may belong to it (found by name and content)",
        text="\n".join(candidate_text(item, symbols=_TESTS_NAMED) for item in tests[:_TESTS_SHOWN]),
        level=Level.LIKELY,
        order=_TESTS_BEHIND,
        foreign=True,
        ends=True,
    )
    views = likely_views(runtime.worktree, sources, likely)
    return [drawn, naming, *views, listed, *_views_of_tests(runtime.worktree, tests[:_TESTS_SHOWN])]


def _likely(found: Sequence[Body]) -> Iterator[Symbol]:
    """Definitions for the map: those that fit, and the constants that the best of them name."""
    yield from (one.symbol for one in found)
    yield from (constant for one in found[:_CANDIDATES] for constant in one.speaks_of)


def _views_of_tests(root: Path, tests: Sequence[RelevantFile]) -> list[View]:
    return likely_views(root, tests, bodies(root, tests)[:_TESTS_SHOWN], behind=_TESTS_BEHIND)


def _sketch(state: RunState, runtime: Runtime) -> str:
    """Top-level entries and the first words of the README, from the base commit itself: the worktree may not stand yet."""
    _, readme = top_level(runtime.git, state.identity.base_commit, texts=_READMES)
    text = readme[:6000].decode("utf-8", "replace")
    words = " ".join(line for line in text.splitlines() if not re.search(_BADGE, line)).split()
    return f"{_top(state, runtime)}\n{' '.join(words)[:400]}"


def _top(state: RunState, runtime: Runtime) -> str:
    """The top-level entries of the base commit."""
    entries, _ = top_level(runtime.git, state.identity.base_commit, texts=())
    return " ".join(sorted(name for name in entries if not name.startswith(".git"))[:_ENTRIES])


def arrived_pieces(stage: str, state: RunState) -> list[Piece]:
    """The contents of what arrived, for the stages that build on it; [] where nothing was waited for."""
    if stage not in _STAGES:
        return []
    pieces = []
    for seen in state.relations.awaited.values():
        found = seen.get("found")
        path = str(found.get("path", "")) if isinstance(found, dict) else ""
        if seen.get("status") == "arrived" and isinstance(found, dict) and path:
            whose = f"delivered by {seen['task_id']}" if seen.get("task_id") else f"on branch {found.get('branch')}"
            name = f"contract {path} {found.get('version')}, {whose}"
            text = _text(Path(str(seen.get("repo"))), str(found.get("commit")), path)
            pieces.append(Piece(name=name, text=text, level=Level.LAW, foreign=True))
        elif seen.get("status") == "arrived" and isinstance(found, dict) and _elsewhere(seen, state):
            name = f"change that {seen.get('task_id')} delivered in {seen.get('repo')}; the tests here can import it"
            text = _change(Path(str(seen.get("repo"))), str(found.get("commit")))
            pieces.append(Piece(name=name, text=text, level=Level.NAMED, foreign=True, share=30))
    return pieces


def _elsewhere(seen: Mapping[str, object], state: RunState) -> bool:
    """Whether another repository delivered it: this one holds its own deliveries where it starts."""
    repo = str(seen.get("repo") or "")
    return bool(repo) and Path(repo).resolve() != Path(state.identity.repo).resolve()


def _change(repo: Path, commit: str) -> str:
    try:
        return Git.open(repo).diff(f"{commit}^", commit)
    except AgentForgeError as exc:  # the other repository is gone: said where the change would stand
        return f"cannot be read any more: {exc.message}"


def _text(repo: Path, commit: str, path: str) -> str:
    try:
        data = Git.open(repo).show(commit, path)
    except AgentForgeError as exc:  # the other repository is gone: said where the contract would stand
        return f"cannot be read any more: {exc.message}"
    return (data or b"").decode("utf-8", "replace")
