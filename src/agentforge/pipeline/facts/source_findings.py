"""What the source of a change shows: what is defined, replaced built-ins, altered checks, names that nobody asked to change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath

from agentforge.events.state.run_state import RunState
from agentforge.languages.javascript.source import defines as javascript_defines, is_javascript, named_by
from agentforge.languages.symbols import symbols_of
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import product_symbols, suite_files
from agentforge.pipeline.model.stage import Json
from agentforge.safety.text.hygiene import outside
from agentforge.suite import Rig
from agentforge.verification.source.ci_changes import check_changes
from agentforge.verification.source.evasion import new_replacements
from agentforge.verification.source.out_of_scope_changes import (
    RequestedScope,
    out_of_scope_behaviour,
    out_of_scope_changes,
    out_of_scope_results,
)
from agentforge.verification.source.test_hashes import test_hashes
from agentforge.verification.stages.product_files import product_files
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import language_of, outline_of


def words_of_people(state: RunState) -> str:
    """What people asked for: the request, and what they answered since; never what a model wrote."""
    answers = [item.resolution.text for item in state.people.escalations.values() if item.resolution is not None]
    return "\n".join([state.brief.request, *answers])


def deceptions(state: RunState, runtime: Runtime, *, tree: str) -> list[dict[str, object]]:
    """Places of the changed product files that replace clock, chance or built-ins, and did not at the base."""
    base = state.work.trees["baseline"]
    own = set(suite_files(state))
    changed = [change.path for change in runtime.git.changed(base, tree) if change.path not in own]
    found = new_replacements(
        product_files(runtime.git, tree, changed, roots=runtime.rig().plan.roots),
        before=lambda path: runtime.git.show(base, path),
        after=lambda path: runtime.git.show(tree, path),
    )
    return [{"path": one.path, "line": one.line, "text": one.text} for one in found]


def check_facts(state: RunState, runtime: Runtime, *, tree: str) -> dict[str, object]:
    """Which checks of the project a tree alters."""
    base, read = state.work.trees["baseline"], runtime.rig().read
    changed = [item.path for item in runtime.git.changed(base, tree)]
    asked = outside(state.brief.request)  # what others wrote may not ask for it
    return {"checks_changed": list(check_changes(changed, before=read(base), after=read(tree), request=asked))}


def out_of_scope(state: RunState, runtime: Runtime, *, tree: str, passing: bool) -> list[str]:
    """List what changed beyond the specification inside the files that it names.

    Args:
        passing: the suite passes, so that it is worth asking functions.
    """
    base, rig, asked = state.work.trees["baseline"], runtime.rig(), _asked(state)
    changed = changed_product(state, rig, tree)
    found = list(out_of_scope_changes(changed, before=rig.read(base), after=rig.read(tree), asked=asked))
    if passing and not found:
        found += out_of_scope_behaviour(rig, base_tree=base, tree=tree, changed=changed, asked=asked)
    return found


def out_of_scope_calls(state: RunState, runtime: Runtime, recorded: Sequence[Json], *, tree: str) -> list[str]:
    """List the functions that give another result of a recorded call, though nothing that they read was asked for.

    Args:
        recorded: calls that the tests were seen to make.
    """
    base, rig = state.work.trees["baseline"], runtime.rig()
    return list(
        out_of_scope_results(
            rig, recorded, base_tree=base, tree=tree, changed=changed_product(state, rig, tree), asked=_asked(state)
        )
    )


def changed_product(state: RunState, rig: Rig, tree: str) -> tuple[str, ...]:
    """The product files that differ from the base."""
    own = set(suite_files(state))
    paths = [change.path for change in rig.git.changed(state.work.trees["baseline"], tree) if change.path not in own]
    return product_files(rig.git, tree, paths, roots=rig.plan.roots)


def _asked(state: RunState) -> RequestedScope:
    spec = state.work.artifacts.get("spec", {})
    return RequestedScope(symbols=symbols_of(product_symbols(spec)), told=words_of_people(state))


def dotted(name: str) -> str:
    """The name of a symbol without parameters, its parts with dots between them."""
    return name.split("(", maxsplit=1)[0].strip().replace("::", ".")


def defines(path: str, name: str, content: bytes, *, exactly: bool = False, inside: bool = True) -> bool | None:
    """Whether a file defines a symbol; None when its language cannot be read.

    Args:
        exactly: `area` is not the method `Circle.area`.
        inside: JavaScript's names inside of a function count.
    """
    text = content.decode("utf-8", "replace")
    if is_javascript(path) and javascript_defines(path, text, dotted(name), inside=inside):
        return True
    known = outline_of(path, text) if language_of(path) else None
    if known is None or known.note:
        return None
    names = {symbol.qualified for symbol in known.symbols}
    return dotted(name) in (names if exactly else names | {symbol.name for symbol in known.symbols})


def titled(path: str, name: str, text: str) -> bool:
    """Whether a name means a test whose title is made while tests run (`links > line 38` of a loop), or a file of test data.

    Its group stands in the file and holds no test whose title is written out; data of tests goes by the name of its file.
    """
    if not is_test_path(path):
        return False
    group, made, _ = name.rpartition(" > ")
    if not made:
        return name in (path, PurePosixPath(path).name)
    written = [title for title, _ in test_hashes(path, text.encode())]
    return all(one in text for one in group.split(made)) and not any(
        title.startswith(group + made) for title in written
    )


def named_elsewhere(path: str, name: str, *, files: Iterable[str], read: Callable[[str], str | None]) -> bool:
    """Whether a file exports something without a name, and a file beside or above it (the package's entry) gives it this one.

    Args:
        files: every file of the tree.
        read: the text of one of them.
    """
    text = read(path) if is_javascript(path) else None
    if text is None:
        return False
    above = {*PurePosixPath(path).parents}
    near = (one for one in files if is_javascript(one) and PurePosixPath(one).parent in above and one != path)
    return any(named_by(path, text, name, other=one, its_text=read(one) or "") for one in near)
