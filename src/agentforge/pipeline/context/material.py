"""The stable part of a stage's contexts: what it will surely ask for, gathered once when it starts; the packer makes it fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from textwrap import indent
from typing import cast

from agentforge.context.render import render
from agentforge.context.sections import Level, Piece, Section, View
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.context.early_material import (
    arrived_pieces,
    baseline_piece,
    clarified_piece,
    numbered_piece,
    of_analyze,
    of_clarify,
    of_intake,
)
from agentforge.pipeline.context.excerpts import REST, WHOLE, code_view
from agentforge.pipeline.context.excerpts_of_tests import frozen_views, listed_views, style_views
from agentforge.pipeline.context.inner_tests import frozen_piece, place_piece, with_frozen, with_places
from agentforge.pipeline.context.test_mentions import named_in_tests
from agentforge.pipeline.engine.disputes import overruled_tests, rulings_text, set_aside
from agentforge.pipeline.engine.joint_replies import stages_ahead
from agentforge.pipeline.facts.speed import measured_text, wanted_text
from agentforge.pipeline.ledger.placement import standing_examples
from agentforge.pipeline.model.prompt_text import (
    framed_constraints,
    holds,
    specification_parts,
    specification_text,
    terms_of,
)
from agentforge.pipeline.model.revisits import is_open
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import named_files, suite_files, suite_parts
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.pipeline.plugins.added_stage import gather_added, shown_artifacts
from agentforge.pipeline.stages import FIX, SPLIT
from agentforge.pipeline.workflows.split.parts import gather_plan
from agentforge.tokens import count_tokens
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import language_of

_WITH_INSTRUCTIONS = ("analyze", "spec", "red", "green", "refactor")
_FILES_SHOWN = 12
_FROZEN_WHOLE, _FROZEN_LAW, _FROZEN_LEAST = 12, 15, 5
"""Per cent of a step up to which frozen test files are law as a whole, up to which what is new in them is, and what remains of
both beside much code that has to change."""
_TO_CHANGE = 30
"""Per cent of a step that code which has to change may cost before frozen tests make room for it."""


def gather(stage: str, state: RunState, runtime: Runtime) -> list[Section]:
    """The sections for a stage; a stage without a model needs none."""
    return [one for one in _gathered(stage, state, runtime) if isinstance(one, View) or one.text.strip() or one.parts]


def _gathered(stage: str, state: RunState, runtime: Runtime) -> list[Section]:
    return _BY_WORKFLOW[state.brief.workflow](stage, state, runtime)


def _of_plan(_stage: str, state: RunState, _runtime: Runtime) -> list[Section]:
    return gather_plan(state)


def _of_fix(stage: str, state: RunState, runtime: Runtime) -> list[Section]:
    from agentforge.pipeline.workflows.fix.material import gather_fix

    return gather_fix(stage, state, runtime)


def _of_request(stage: str, state: RunState, runtime: Runtime) -> list[Section]:
    decided = Piece(name="decided by a human (binding)", text=rulings_text(state), level=Level.LAW)
    sections = [
        decided,
        *_of_stage(stage, state, runtime),
        *_of_others(stage, state),
        *_of_added(stage, state, runtime),
    ]
    return [*sections, *_asked_of_agents(stage, state, runtime)]


_BY_WORKFLOW: dict[str, Callable[[str, RunState, Runtime], list[Section]]] = {
    "": _of_request,
    FIX: _of_fix,
    SPLIT: _of_plan,
}


def _of_stage(stage: str, state: RunState, runtime: Runtime) -> list[Section]:
    if stage in _GATHERERS:
        return _GATHERERS[stage](state, runtime)
    return gather_added(runtime.stages[stage], state, runtime)


def _asked_of_agents(stage: str, state: RunState, runtime: Runtime) -> list[Section]:
    """What the repository asks of agents: it gets the room that the named places leave."""
    own = runtime.stages[stage]
    if stage not in _WITH_INSTRUCTIONS and not own.after and not stages_ahead(own, state, runtime):
        return []
    text, name = runtime.instructions(), "AGENTS.md (text of the repository: conventions to keep, no orders)"
    return [Piece(name=name, text=text, order=50, share=10, note="read_file AGENTS.md for all of it")]


def _of_added(stage: str, state: RunState, runtime: Runtime) -> list[Section]:
    """What stages from outside made for this one."""
    if not state.brief.added:
        return []
    return [*shown_artifacts(stage, state, runtime)]


def _of_others(stage: str, state: RunState) -> list[Section]:
    """What other tasks delivered for this one."""
    if not state.relations.awaited:
        return []
    return [*arrived_pieces(stage, state)]


def _spec(state: RunState, runtime: Runtime) -> list[Section]:
    analysis = state.work.artifacts.get("analyze", {})
    told = {key: value for key, value in analysis.items() if key not in ("tests", "symbols")}
    return [
        numbered_piece(state),
        clarified_piece(state),
        Piece(name="analysis", text=render(told), order=-1),
        *_speed("a measurement is wanted", wanted_text(state)),
        *_supplied(state, runtime),
        _named_by_tests(state, runtime),
        *_code(runtime, texts(analysis.get("impacted_files")), _analysed(state)),
    ]


def _named_by_tests(state: RunState, runtime: Runtime) -> Piece:
    """The existing tests that name what ANALYZE pointed at: a change of it may contradict them."""
    tests = [path for path in runtime.git.list_files(state.identity.base_commit) if is_test_path(path)]
    text = named_in_tests(runtime.worktree, tests, [name for _, name, _ in _analysed(state)])
    return Piece(name="existing tests that name it", text=text, order=10, share=5, ends=True)


def _red(state: RunState, runtime: Runtime) -> list[Section]:
    from agentforge.pipeline.facts.held_out import shown_examples

    spec = state.work.artifacts.get("spec", {})
    files, places = _spec_places(spec, state)
    if is_open(state):
        return [
            _specification(spec),
            _asks(state, spec),
            *frozen_tests(runtime, _suite(state), state),
            *_code(runtime, files, places, frozen=suite_files(state)),
        ]
    named = [path for path in dict.fromkeys((*files, *(path for path, _, _ in places))) if is_test_path(path)]
    sources = [path for path in files if language_of(path) and path not in named]
    listed = [path for path in runtime.git.list_files(state.identity.base_commit) if is_test_path(path)]
    tests = style_views(
        runtime.worktree,
        near=sources,
        tests=listed,
        names=_changed_names(spec) or [name for _, name, _ in places],
        named=named,
        words=terms_of(state.brief.request),
        request=state.brief.request,
    )
    asks = _asks(state, spec)
    above = f"{specification_text(spec)}\n{asks.text}"
    return [
        _specification(spec),
        asks,
        Piece(
            name="further examples of the request",
            text="\n".join(
                f"- {indent(one, '  ').lstrip()}" for one in standing_examples(state) if not holds(above, one)
            ),
            level=Level.LAW,
        ),
        Piece(name="examples of the specification", text=shown_examples(state), level=Level.LAW),
        *_speed("what is measured beside the tests", measured_text(state)),
        baseline_piece(state),
        place_piece(runtime.worktree, sources),
        *listed_views(runtime.worktree, _listed_tests(spec)),
        *tests,
        *with_places(
            runtime.worktree, _places_alone(_code(runtime, [*sources, *named], places, changed=_changed_names(spec)))
        ),
    ]


def _green(state: RunState, runtime: Runtime) -> list[Section]:
    from agentforge.pipeline.facts.impact import impact_text

    spec = state.work.artifacts.get("spec", {})
    files, places = _spec_places(spec, state)
    code = _code(runtime, files, places, frozen=suite_files(state), changed=_changed_names(spec))
    return [
        _specification(spec),
        _asks(state, spec),
        *_speed("what is measured beside the tests", measured_text(state)),
        *_writable(spec),
        Piece(name="existing tests that run what you change (measured)", text=impact_text(state), order=20),
        *frozen_tests(runtime, _suite(state), state, beside=_to_change(code)),
        frozen_piece(runtime.worktree, suite_parts(state)),
        *with_frozen(
            runtime.worktree, code, suite_parts(state), before=partial(_at_base, runtime=runtime, state=state)
        ),
    ]


def _to_change(code: Iterable[Section]) -> int:
    """Tokens of the lines that were named in product files, and of the definitions that are to be changed."""
    numbers = (
        (view, {line for want in view.wants if want.order <= WHOLE for line in range(want.first, want.last + 1)})
        for view in code
        if isinstance(view, View)
    )
    return sum(
        count_tokens(f"{line} {view.lines[line]}\n") for view, lines in numbers for line in lines & view.lines.keys()
    )


def _writable(spec: Json) -> list[Section]:
    """The files that may be written, where the specification's own lists do not say it."""
    listed = {*texts(spec.get("files_to_modify")), *texts(spec.get("files_to_create"))}
    files = named_files(spec)
    return (
        [] if listed == set(files) else [Piece(name="files that you may write", text="\n".join(files), level=Level.LAW)]
    )


def _speed(name: str, text: str) -> list[Section]:
    return [Piece(name=name, text=text, level=Level.LAW)] if text else []


def _refactor(state: RunState, runtime: Runtime) -> list[Section]:
    spec = state.work.artifacts.get("spec", {})
    files, places = _spec_places(spec, state)
    return [_specification(spec), *_code(runtime, files, places)]


_GATHERERS: dict[str, Callable[[RunState, Runtime], list[Section]]] = {
    "intake": of_intake,
    "clarify": of_clarify,
    "analyze": of_analyze,
    "spec": _spec,
    "red": _red,
    "green": _green,
    "refactor": _refactor,
}


def _asks(state: RunState, spec: Json) -> Piece:
    from agentforge.pipeline.ledger.shown import ASKS, asked_text

    return Piece(name=ASKS, text=asked_text(state, above=specification_text(spec)), level=Level.LAW)


def _specification(spec: Json) -> Piece:
    return Piece(
        name="specification",
        text="",
        parts=specification_parts(spec, framed=len(framed_constraints(spec))),
        level=Level.LAW,
        order=-1,
    )


Place = tuple[str, str, int]  # file, symbol, the line that matters (0: not said)


def _analysed(state: RunState) -> list[Place]:
    """The places that ANALYZE pointed at."""
    found = items(state.work.artifacts.get("analyze", {}).get("symbols"))
    return [
        (str(row.get("file", "")), str(row.get("name", "")), int(cast("int", row.get("line") or 0))) for row in found
    ]


def _spec_places(spec: Json, state: RunState) -> tuple[list[str], list[Place]]:
    """Files that the specification touches, and the places in them that exist already."""
    rows = items(spec.get("symbols"))
    files = [*texts(spec.get("files_to_modify")), *(str(row.get("file", "")) for row in rows)]
    places = [(str(row.get("file", "")), str(row.get("name", "")), 0) for row in rows]
    return [path for path in dict.fromkeys(files) if path], [*places, *_analysed(state)]


def _listed_tests(spec: Json) -> dict[str, list[str]]:
    """The names that the specification lists in test files, by file: what is there already and is to change."""
    listed: dict[str, list[str]] = {}
    for row in items(spec.get("symbols")):
        path = str(row.get("file", ""))
        if is_test_path(path) and row.get("change") != "new":
            listed.setdefault(path, []).append(str(row.get("name", "")))
    return listed


def _changed_names(spec: Json) -> list[str]:
    """What the specification changes and tests may speak of already."""
    return [str(row.get("name", "")) for row in items(spec.get("symbols")) if row.get("change") != "new"]


def _code(
    runtime: Runtime,
    files: Iterable[str],
    places: list[Place],
    *,
    frozen: Collection[str] = (),
    changed: Collection[str] = (),
) -> list[Section]:
    """Views of the named files: what was named in them, then what else they hold; frozen tests have views of their own.

    Args:
        changed: names of what the specification changes: whole before the other places are.
    """
    paths = [path for path in dict.fromkeys((*files, *(path for path, _, _ in places))) if path not in frozen]
    views = []
    for path in [path for path in paths if (runtime.worktree / path).is_file()][:_FILES_SHOWN]:
        here = [place for place in places if place[0] == path]
        names, lines = dict.fromkeys(name for _, name, _ in here), [line for _, _, line in here if line]
        state = "as it is at the start of this stage"
        view = code_view(runtime.worktree, path, names=names, lines=lines, changed=changed, state=state)
        views += [view] if view is not None else []
    return [*views]


def _places_alone(sections: Iterable[Section]) -> Iterator[Section]:
    """Code for who writes tests: what was named, without what it calls and what else stands in its file."""
    for one in sections:
        yield (
            replace(one, wants=tuple(want for want in one.wants if want.level == Level.NAMED and want.order < REST))
            if isinstance(one, View)
            else one
        )


def _supplied(state: RunState, runtime: Runtime) -> list[Section]:
    """The user's own tests; those that are not written yet come from the user's copy."""
    there = [path for path in state.brief.tests if (runtime.worktree / path).is_file()]
    given = [path for path in state.brief.tests if path not in there and path in runtime.supplied]
    copies = {path: runtime.supplied[path] for path in given}
    if overruled_tests(state) or set_aside(state):
        from agentforge.pipeline.engine.rulings import amended  # of the few runs in which a human ruled

        copies = {path: amended(path, data, state) for path, data in copies.items()}
    return [
        *frozen_tests(runtime, dict.fromkeys(there, ()), state),
        *(
            Piece(
                name=f"{path} (a test supplied by the user)",
                text=copy.decode("utf-8", "replace"),
                level=Level.LAW,
                foreign=True,
            )
            for path, copy in copies.items()
        ),
    ]


def _suite(state: RunState) -> dict[str, Iterable[str]]:
    """The files of the frozen suite with the tests that RED declared in them."""
    files = {str(row.get("path", "")): row for row in items(state.work.artifacts.get("red", {}).get("test_files"))}
    declared = {path: items(files.get(path, {}).get("tests")) for path in suite_files(state)}
    return {
        path: dict.fromkeys(str(row.get("name", "")).split("[")[0].replace("::", ".") for row in rows)
        for path, rows in declared.items()
    }


def frozen_tests(
    runtime: Runtime, suite: Mapping[str, Iterable[str]], state: RunState, *, beside: int = 0
) -> list[View]:
    """Views of frozen tests; of long files what the run changed in them comes first.

    Args:
        suite: by path the names of the tests that are declared there.
        beside: tokens of the code that has to change; much of it takes room from the tests.
    """
    over = max(0, 100 * beside // runtime.step_tokens - _TO_CHANGE)
    shares = (max(_FROZEN_LEAST, share - over) for share in (_FROZEN_WHOLE, _FROZEN_LAW))
    whole, law = (runtime.step_tokens * share // 100 for share in shares)
    before = partial(_at_base, runtime=runtime, state=state)
    return frozen_views(runtime.worktree, suite, before=before, whole=whole, law=law)


def _at_base(path: str, runtime: Runtime, state: RunState) -> str:
    return (runtime.git.show(state.identity.base_commit, path) or b"").decode("utf-8", "replace")
