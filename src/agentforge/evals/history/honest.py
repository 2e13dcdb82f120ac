"""The artifacts that an honest, competent model would hand in for a commit, made by machine from its diff, message and tests.

Requirements come from the message and the names of the tests, symbols from the outlines of the files before and after, kinds of
tests from what was measured, files from the diff. RED's files are the commit's tests, GREEN's are its code, byte for byte.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentforge.evals.history.commits import ChangedFile, History, HistoryCommit, Range
from agentforge.evals.history.evidence import HistoryEvidence
from agentforge.evals.history.requests import action_of, message_of
from agentforge.testing.outcome import file_of, name_of, without_parameters
from agentforge.verification.source.test_hashes import test_hashes
from agentforge.workspace.code.symbols import Symbol, language_of, outline_of

Json = dict[str, Any]

_KINDS = {"function": "function", "method": "method", "class": "class", "type": "class", "variable": "constant"}
_MOST_CRITERIA = 8
_FEW = 3
_TITLE, _GOAL = 90, 280  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class HonestWork:
    """One commit as the replies of a model, stage by stage."""

    commit: HistoryCommit
    history: History
    evidence: HistoryEvidence

    @property
    def request(self) -> str:
        """The commit's message."""
        return message_of(self.commit)

    @property
    def action(self) -> str:
        """What INTAKE says: where no test asks for the change of code, it is a refactoring."""
        if not self._code():
            return "modify"
        return action_of(self.commit) if self.evidence.targets else "refactor"

    def unseen_tests(self) -> list[str]:
        """The test functions that the commit writes and that do not pass here with its code either."""
        uncounted = set(map(without_parameters, self.evidence.uncounted))
        return [one for one in self._written_tests() if one in uncounted]

    def stages(self) -> dict[str, list[Json]]:
        """The script for the scripted model: one reply for each stage that asks a model."""
        return {
            "intake": [_reply(self._intake())],
            "analyze": [_reply(self._analysis())],
            "spec": [_reply(self._specification())],
            "red": [_reply(self._suite(), self._writes(self.commit.tests))],
            "green": [_reply(self._implementation(), self._writes(self._product()))],
        }

    def _intake(self) -> Json:
        files = [one.path for one in self._product()]
        return {
            "goal": _first_line(self.request)[:_GOAL],
            "extracted_intent": {
                "action": self.action,
                "target": files[0],
                "scope": "file" if len(files) == 1 else "module",
            },
            "examples": [],
            "initial_complexity": "simple",
            "identified_ambiguities": [],
        }

    def _analysis(self) -> Json:
        old = [one.old_path for one in self._product() if one.old_path]
        symbols = [
            {"name": symbol.qualified, "file": symbol.path, "line": symbol.line}
            for one in self._code()
            for symbol in self._touched(one, new=False)
        ]
        return {
            "summary": f"{', '.join(old[:5]) or 'New files'}: {_first_line(self.request)}",
            "impacted_files": old,
            "modules": [{"path": path, "purpose": "concerned"} for path in old],
            "symbols": symbols[:12],
            "conventions": [],
            "risks": [],
            "constraints": [],
        }

    def _specification(self) -> Json:
        product = self._product()
        gone = [one.old_path for one in product if one.status == "renamed"]
        modified = [one.old_path for one in product if one.status in ("modified", "deleted", "type-changed")]
        return {
            "title": _first_line(self.request)[:_TITLE],
            "description": self.request,
            "requirements": list(self._requirements()),
            "symbols": [*self._symbols(), *self._superseded()],
            "files_to_modify": [*modified, *gone],
            "files_to_create": [one.path for one in product if one.status in ("added", "renamed")],
            "trace_to_request": "REQ-001 is what the request asks for",
        }

    def _requirements(self) -> Iterator[Json]:
        documents = [one.path for one in self._product() if one.role == "document"]
        tested = self._declared()
        if tested:
            yield _requirement(1, self.request[:_GOAL], self._criteria(tested), "test")
        if documents or not tested:
            named = documents or [one.path for one in self._product()]
            said = [f"{path} says what the change is about" for path in named]
            yield _requirement(2 if tested else 1, "It can be read in the files", said, "inspection")

    def _criteria(self, tested: Sequence[str]) -> list[str]:
        """One criterion for each tested function, the last one for all that are too many."""
        said = list(dict.fromkeys(_spoken(name) for name in tested))
        if len(said) <= _MOST_CRITERIA:
            return said
        return [*said[: _MOST_CRITERIA - 1], "; ".join(said[_MOST_CRITERIA - 1 :])[:600]]

    def _suite(self) -> Json:
        said = list(dict.fromkeys(_spoken(one) for one in self._declared()))
        files: dict[str, list[Json]] = {}
        for nodeid in self._declared():
            number = min(said.index(_spoken(nodeid)) + 1, _MOST_CRITERIA)
            for name, kind in self._kinds(nodeid):
                files.setdefault(file_of(nodeid), []).append(
                    {
                        "name": name,
                        "kind": kind,
                        "requirement_ref": "REQ-001",
                        "acceptance_criterion": f"REQ-001.{number}",
                    }
                )
        return {"test_files": [{"path": path, "tests": tests} for path, tests in files.items()]}

    def _kinds(self, nodeid: str) -> Iterator[tuple[str, str]]:
        """How a test function is declared: once where all of its rows are alike, else row by row."""
        targets = [one for one in self.evidence.targets if without_parameters(one) == nodeid]
        guards = [one for one in self.evidence.guards if without_parameters(one) == nodeid]
        others = [one for one in self.evidence.uncounted if without_parameters(one) == nodeid]
        if not others and (not targets or not guards):
            yield name_of(nodeid), "target" if targets else "guard"
            return
        yield from ((name_of(one), "target") for one in targets)
        yield from ((name_of(one), "guard") for one in guards)

    def _declared(self) -> list[str]:
        """The test functions that the commit writes and that can be judged; else those that it mends, or a few that guard."""
        judged = list(dict.fromkeys(map(without_parameters, (*self.evidence.targets, *self.evidence.guards))))
        own = set(self._written_tests())
        targets = set(map(without_parameters, self.evidence.targets))
        chosen = [one for one in judged if one in own]
        if targets and not targets & set(chosen):
            chosen += [one for one in judged if one in targets]
        return chosen or judged[:_FEW]

    def _written_tests(self) -> Iterator[str]:
        """Ids of the test functions that are new or changed."""
        for one in self.commit.tests:
            before = self._tests_at(self.commit.parent, one.old_path)
            after = self._tests_at(self.commit.sha, one.path) if one.status != "deleted" else {}
            yield from (f"{one.path}::{name}" for name, digest in after.items() if before.get(name) != digest)

    def _superseded(self) -> Iterator[Json]:
        """The base's tests that the commit changes or removes, as SPEC lists them."""
        for one in self.commit.tests:
            before = self._tests_at(self.commit.parent, one.old_path)
            after = self._tests_at(self.commit.sha, one.path) if one.status != "deleted" else {}
            for name, digest in before.items():
                if one.status == "renamed" or after.get(name) != digest:
                    stays = name in after and one.status != "renamed"
                    kind = "method" if "::" in name else "function"
                    change = "changed" if stays else "removed"
                    yield {"name": name.replace("::", "."), "file": one.old_path, "kind": kind, "change": change}

    def _tests_at(self, rev: str, path: str) -> dict[str, str]:
        text = self.history.text(rev, path) if path else None
        return dict(test_hashes(path, text.encode())) if text is not None else {}

    def _symbols(self) -> Iterator[Json]:
        """What the diff adds, changes and removes, by the outlines before and after."""
        for one in self._code():
            before = {symbol.qualified: symbol for symbol in self._outline(one, new=False)}
            after = {symbol.qualified: symbol for symbol in self._outline(one, new=True)}
            moved = one.status == "renamed"
            yield from (
                _declaration(symbol, "removed") for name, symbol in before.items() if moved or name not in after
            )
            yield from (_declaration(symbol, "new") for name, symbol in after.items() if moved or name not in before)
            touched = () if moved else (*self._touched(one, new=True), *self._touched(one, new=False))
            for name in dict.fromkeys(symbol.qualified for symbol in touched):
                if name in before and name in after:
                    yield _declaration(after[name], "changed")

    def _touched(self, one: ChangedFile, *, new: bool) -> list[Symbol]:
        """The innermost definitions in which lines were added (new) or removed or replaced (old)."""
        inside = tuple((line, line + 1) for line in one.insertions if line)
        ranges = one.new_lines if new else (*one.old_lines, *inside)
        found: list[Symbol] = []
        for first, last in ranges:
            hit = [symbol for symbol in self._outline(one, new=new) if symbol.line <= last and symbol.end_line >= first]
            found += [
                symbol
                for symbol in hit
                if not any(_inside(other, symbol) and _spans(other, (first, last)) for other in hit)
            ]
        return found

    def _outline(self, one: ChangedFile, *, new: bool) -> tuple[Symbol, ...]:
        path, rev = (one.path, self.commit.sha) if new else (one.old_path, self.commit.parent)
        if new and one.status == "deleted":
            return ()
        text = self.history.text(rev, path) if path and language_of(path) else None
        return outline_of(path, text).symbols if text is not None else ()

    def _product(self) -> tuple[ChangedFile, ...]:
        """Everything that is no test; generated files that were committed are part of the work."""
        return tuple(one for one in self.commit.files if not one.is_test)

    def _code(self) -> tuple[ChangedFile, ...]:
        return tuple(one for one in self._product() if one.role == "code")

    def _implementation(self) -> Json:
        product = self._product()
        return {
            "files_created": [{"path": one.path, "purpose": "as asked"} for one in product if one.status == "added"],
            "files_modified": [
                {"path": one.path, "changes_summary": "as asked"} for one in product if one.status != "added"
            ],
        }

    def _writes(self, files: Sequence[ChangedFile]) -> list[Json]:
        """The tool calls that leave the files as the commit leaves them; RED cannot take a file away and empties it."""
        calls = []
        for one in files:
            if one.status in ("deleted", "renamed"):
                emptied = {"name": "write_file", "args": {"path": one.old_path, "content": ""}}
                taken = {"name": "shell", "args": {"command": f"rm -- {shlex.quote(one.old_path)}"}}
                calls.append(emptied if one.is_test else taken)
            text = self.history.text(self.commit.sha, one.path) if one.status != "deleted" else None
            if text is not None:
                calls.append({"name": "write_file", "args": {"path": one.path, "content": text}})
        return calls


def _reply(draft: Mapping[str, object], calls: Sequence[Json] = ()) -> Json:
    return {"text": "", "tool_calls": [*calls, {"name": "submit_artifact", "args": {"artifact": dict(draft)}}]}


def _requirement(number: int, text: str, criteria: Sequence[str], method: str) -> Json:
    return {
        "id": f"REQ-{number:03}", "description": text, "priority": "must", "acceptance_criteria": list(criteria),
        "verification_method": method,
    }  # fmt: skip


def _declaration(symbol: Symbol, change: str) -> Json:
    return {
        "name": symbol.qualified, "file": symbol.path, "kind": _KINDS[symbol.kind], "signature": symbol.signature,
        "change": change,
    }  # fmt: skip


def _inside(inner: Symbol, outer: Symbol) -> bool:
    return inner is not outer and outer.line <= inner.line and inner.end_line <= outer.end_line


def _spans(symbol: Symbol, lines: Range) -> bool:
    return symbol.line <= lines[0] and lines[1] <= symbol.end_line


def _spoken(nodeid: str) -> str:
    """A test's name in words: what it says that is true."""
    name = name_of(nodeid).rpartition("::")[2]
    return " ".join(name.removeprefix("test_").removeprefix("Test").replace("_", " ").split()) or name


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0]
