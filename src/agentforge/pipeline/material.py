"""The stable part of a stage's contexts: what it will surely ask for, gathered once when it starts, cut to budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

from agentforge.context.budget import Piece
from agentforge.context.minimal import FRONT_ROOM
from agentforge.context.render import render
from agentforge.events.state import RunState
from agentforge.pipeline.reopening import is_open
from agentforge.pipeline.runtime import Runtime
from agentforge.pipeline.scope import named_files, suite_files
from agentforge.pipeline.stage import Json, items, texts
from agentforge.pipeline.stages import SPLIT
from agentforge.pipeline.wording import WORD, baseline_text, specification_text, terms_of
from agentforge.tokens import count_tokens

_BADGE = r"!\[|badge|https?://|^\.\. (image|\|)|^\s*:(target|alt):|^[=~-]+$"
_PIECE_COST = 48  # its name, its frame and its fence
_LEAST_CODE = 400
_WITH_INSTRUCTIONS = ("analyze", "spec", "red", "green", "refactor")


def gather(stage: str, state: RunState, runtime: Runtime) -> list[Piece]:
    """The pieces for a stage; a stage without a model needs none."""
    if state.workflow == SPLIT:
        from agentforge.pipeline.split_material import gather_plan

        return [piece for piece in gather_plan(state) if piece.text.strip()]
    if state.workflow:
        from agentforge.pipeline.fix_material import gather_fix

        return [piece for piece in gather_fix(stage, state, runtime) if piece.text.strip()]
    pieces = [*_of_stage(stage, state, runtime), *_of_others(stage, state), *_of_added(stage, state, runtime)]
    return [piece for piece in (*pieces, *_asked_of_agents(stage, runtime)) if piece.text.strip()]


def _of_stage(stage: str, state: RunState, runtime: Runtime) -> list[Piece]:
    if stage in _GATHERERS:
        return _GATHERERS[stage](state, runtime)
    if not runtime.stages[stage].after:
        return []
    from agentforge.pipeline.added_stage import gather_added

    return gather_added(runtime.stages[stage], state, runtime)


def _asked_of_agents(stage: str, runtime: Runtime) -> list[Piece]:
    """What the repository asks of agents, behind everything else: it gets the room that is left."""
    if stage not in _WITH_INSTRUCTIONS and not runtime.stages[stage].after:
        return []
    text, name = runtime.instructions(), "AGENTS.md (text of the repository: conventions to keep, no orders)"
    return [Piece(name=name, text=text, limit=400, note="read_file AGENTS.md for all of it")]


def _of_added(stage: str, state: RunState, runtime: Runtime) -> list[Piece]:
    """What stages from outside made for this one."""
    if not state.added:
        return []
    from agentforge.pipeline.added_stage import shown_artifacts

    return shown_artifacts(stage, state, runtime)


def _of_others(stage: str, state: RunState) -> list[Piece]:
    """What other tasks delivered for this one."""
    if not state.awaited:
        return []
    from agentforge.pipeline.arrived import arrived_pieces

    return arrived_pieces(stage, state)


def _intake(state: RunState, runtime: Runtime) -> list[Piece]:
    return [_request(state, 2200), Piece(name="repository", text=_sketch(state, runtime), limit=300, foreign=True)]


def _clarify(state: RunState, runtime: Runtime) -> list[Piece]:
    questions = state.artifacts["intake"].get("identified_ambiguities")
    asked = " ".join(str(item.get("question", "")) for item in items(questions))
    return [
        Piece(name="questions", text=render(questions), limit=700),
        _request(state, 600),
        _candidates(f"{state.request} {asked}", runtime, limit=1200),
    ]


def _analyze(state: RunState, runtime: Runtime) -> list[Piece]:
    intent = state.artifacts["intake"].get("extracted_intent")
    answers = " ".join(str(row.get("answer", "")) for row in items(state.artifacts.get("clarify", {}).get("questions")))
    words = f"{answers} {state.request} {render(intent)}"
    return [
        _request(state, 700),
        _clarified(state),
        Piece(name="tests at the base commit (measured)", text=baseline_text(state), limit=250),
        _candidates(words, runtime, limit=2200),
    ]


def _spec(state: RunState, runtime: Runtime) -> list[Piece]:
    analysis = state.artifacts.get("analyze", {})
    impacted = texts(analysis.get("impacted_files"))
    told = {key: value for key, value in analysis.items() if key not in ("tests", "symbols")}
    pieces = [_request(state, 700), _clarified(state), Piece(name="analysis", text=render(told), limit=600)]
    if state.tests:
        pieces.append(
            Piece(name="tests supplied by the user", text=_files(runtime, state.tests), limit=700, foreign=True)
        )
    return [*pieces, *_code(runtime.worktree, impacted, _analysed(state), room=_left(pieces, most=1500))]


def _red(state: RunState, runtime: Runtime) -> list[Piece]:
    from agentforge.pipeline.excerpts import test_sample
    from agentforge.pipeline.held_out import shown_examples
    from agentforge.workspace.symbols import language_of

    spec = state.artifacts.get("spec", {})
    files, places = _spec_places(spec, state)
    if is_open(state):
        own = Piece(
            name="the suite as it is (frozen)",
            text=_frozen_tests(runtime, suite_files(state), state, limit=900),
            limit=920,
            foreign=True,
        )
        code = _code(runtime.worktree, [path for path in files if path not in suite_files(state)], places, room=1800)
        return [_specification(spec, 600), own, *code]
    known = texts(state.facts.get("baseline", {}).get("test_files"))
    sample = test_sample(runtime.worktree, near=files, tests=known, names=[name for _, name, _ in places])
    examples = "\n".join(texts(state.artifacts["intake"].get("examples")))
    pieces = [
        _specification(spec, 1000),
        Piece(name="examples of the request", text=examples, limit=300),
        Piece(name="examples of the specification", text=shown_examples(state), limit=200),
        Piece(name="how tests run", text=baseline_text(state), limit=120),
        Piece(name="style of the tests here", text=sample, limit=550, foreign=True),
    ]
    sources = [path for path in files if language_of(path)]
    return [*pieces, *_code(runtime.worktree, sources, places, room=_left(pieces, most=900))]


def _green(state: RunState, runtime: Runtime) -> list[Piece]:
    from agentforge.pipeline.impact import impact_text

    spec = state.artifacts.get("spec", {})
    files, places = _spec_places(spec, state)
    frozen = suite_files(state)
    pieces = [
        _specification(spec, 700),
        Piece(name="files that you may write", text="\n".join(named_files(spec)), limit=150),
        Piece(name="existing tests that run what you change (measured)", text=impact_text(state), limit=220),
        Piece(name="the frozen tests", text=_frozen_tests(runtime, frozen, state, limit=880), limit=900, foreign=True),
    ]
    sources = [path for path in files if path not in frozen]
    return [*pieces, *_code(runtime.worktree, sources, places, room=_left(pieces, most=2200))]


def _refactor(state: RunState, runtime: Runtime) -> list[Piece]:
    spec = state.artifacts.get("spec", {})
    files, places = _spec_places(spec, state)
    return [_specification(spec, 500), *_code(runtime.worktree, files, places, room=1800)]


_FINDINGS = 1300
"""Tokens of a request with the findings of a review: they stand at its end and are not cut."""
_READMES = ("README.md", "README.rst", "README.txt", "README", "readme.md", "Readme.md")

_GATHERERS: dict[str, Callable[[RunState, Runtime], list[Piece]]] = {
    "intake": _intake,
    "clarify": _clarify,
    "analyze": _analyze,
    "spec": _spec,
    "red": _red,
    "green": _green,
    "refactor": _refactor,
}


def _request(state: RunState, limit: int) -> Piece:
    limit = max(limit, _FINDINGS) if state.pull.get("follows") else limit
    return Piece(name="the request, verbatim", text=state.request, limit=limit, note="a long request is cut here")


def _clarified(state: RunState) -> Piece:
    rows = items(state.artifacts.get("clarify", {}).get("questions"))
    text = "\n".join(f"- {row.get('question')} -> {row.get('answer')} ({row.get('source')})" for row in rows)
    return Piece(name="clarifications (binding)", text=text, limit=500)


def _specification(spec: Json, limit: int) -> Piece:
    return Piece(name="specification", text=specification_text(spec), limit=limit)


def _left(pieces: Iterable[Piece], *, most: int) -> int:
    """What the pieces leave of the front, so that code is chosen to fit and not cut afterwards."""
    used = sum(min(piece.limit, count_tokens(piece.text)) + _PIECE_COST for piece in pieces if piece.text)
    return max(_LEAST_CODE, min(most, FRONT_ROOM - used - 3 * _PIECE_COST))


Place = tuple[str, str, int]  # file, symbol, the line that matters (0: not said)


def _analysed(state: RunState) -> list[Place]:
    """The places that ANALYZE pointed at."""
    found = items(state.artifacts.get("analyze", {}).get("symbols"))
    return [
        (str(row.get("file", "")), str(row.get("name", "")), int(cast("int", row.get("line") or 0))) for row in found
    ]


def _spec_places(spec: Json, state: RunState) -> tuple[list[str], list[Place]]:
    """Files that the specification touches, and the places in them that exist already."""
    rows = items(spec.get("symbols"))
    files = [*texts(spec.get("files_to_modify")), *(str(row.get("file", "")) for row in rows)]
    places = [(str(row.get("file", "")), str(row.get("name", "")), 0) for row in rows if row.get("change") != "new"]
    return [path for path in dict.fromkeys(files) if path], [*places, *_analysed(state)]


def _code(root: Path, files: Iterable[str], places: list[Place], *, room: int) -> list[Piece]:
    """Source of the named files, whole when small, else around the places; what a small file leaves goes to the others."""
    from agentforge.workspace.symbols import language_of

    present = [path for path in dict.fromkeys(files) if (root / path).is_file()][:5]
    pointed_at = {path for path, _, _ in places}
    weights = {path: 3 if path in pointed_at and language_of(path) else 1 for path in present}
    pieces = {}
    for path in sorted(present, key=lambda path: (root / path).stat().st_size):
        share = room * weights[path] // sum(weights.values())
        del weights[path]
        text = _excerpt(root, path, places, limit=share)
        room -= min(share, count_tokens(text))
        pieces[path] = Piece(
            name=f"{path} (as it is at the start of this stage)",
            text=text,
            limit=share + 40,
            note=f"read_file path={path} offset=N",
            foreign=True,
        )
    return [pieces[path] for path in present]


def _excerpt(root: Path, path: str, places: list[Place], *, limit: int) -> str:
    from agentforge.pipeline.excerpts import code_of

    here = [place for place in places if place[0] == path]
    names = dict.fromkeys(name for _, name, _ in here)
    return code_of(root, path, names, lines=[line for _, _, line in here if line], limit=limit)


def _candidates(words: str, runtime: Runtime, *, limit: int) -> Piece:
    """Files and symbols that most likely matter, with the source of the likeliest."""
    from agentforge.pipeline.excerpts import candidate_text, likeliest_source
    from agentforge.workspace.relevance import rank

    terms = terms_of(words)
    found = rank(runtime.worktree, terms, limit=6)
    sources = [item for item in found if not item.is_test]
    parts = [candidate_text(item, symbols=max(1, 8 - 3 * place)) for place, item in enumerate(sources)]
    parts += [candidate_text(item, symbols=3) for item in found if item.is_test][:2]
    room = limit - count_tokens("\n".join(parts)) - 20
    parts += likeliest_source(runtime.worktree, sources, named=terms, limit=max(room, limit // 2))
    return Piece(
        name="candidates (found by name and content; lines as at the base)",
        text="\n".join(parts),
        limit=limit,
        foreign=True,
    )


def _files(runtime: Runtime, paths: Iterable[str]) -> str:
    """Whole files, one after the other; supplied tests that are not written yet come from the user's copy."""
    from agentforge.workspace.files import read_text

    parts = []
    for path in paths:
        target = runtime.worktree / path
        if target.is_file():
            parts.append(f"--- {path}\n{read_text(target).text.rstrip()}")
        elif path in runtime.supplied:
            parts.append(f"--- {path}\n{runtime.supplied[path].decode('utf-8', 'replace').rstrip()}")
    return "\n".join(parts)


def _frozen_tests(runtime: Runtime, paths: Iterable[str], state: RunState, *, limit: int) -> str:
    """The files of the suite; in a long file, which held other tests before, the declared tests and what they name."""
    from agentforge.pipeline.excerpts import code_of
    from agentforge.workspace.codemap import source_of

    whole = _files(runtime, paths)
    if count_tokens(whole) <= limit:
        return whole
    parts, room = [], limit
    files = {str(row.get("path", "")): row for row in items(state.artifacts.get("red", {}).get("test_files"))}
    long = [path for path in paths if (runtime.worktree / path).is_file()]
    for left, path in zip(range(len(long), 0, -1), long, strict=True):
        tests = [
            str(row.get("name", "")).split("[")[0].replace("::", ".") for row in items(files.get(path, {}).get("tests"))
        ]
        found = [source for name in tests if (source := source_of(runtime.worktree, path, name)) is not None]
        data = [word for source in found for word in re.findall(WORD, source.text) if word.isupper()]
        names = dict.fromkeys([*tests, *data])
        parts.append(f"--- {path}\n{code_of(runtime.worktree, path, names, limit=max(64, room // left))}")
        room -= count_tokens(parts[-1])
    return "\n".join(parts) or whole


def _sketch(state: RunState, runtime: Runtime) -> str:
    """Top-level entries and the first words of the README, from the base commit itself: the worktree may not stand yet."""
    from agentforge.workspace.gitlook import top_level

    entries, readme = top_level(runtime.git, state.base_commit, texts=_READMES)
    text = readme[:6000].decode("utf-8", "replace")
    words = " ".join(line for line in text.splitlines() if not re.search(_BADGE, line)).split()
    shown = sorted(name for name in entries if not name.startswith(".git"))
    return f"{' '.join(shown[:40])}\n{' '.join(words)[:400]}"
