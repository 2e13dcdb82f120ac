"""What the harness mends in drafts before it measures: bookkeeping never refuses honest work, and each mend is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentforge.contracts.check import check
from agentforge.events.state.attempt import Submission
from agentforge.pipeline.engine.judgement import contract_of
from agentforge.pipeline.facts.early_facts import analyze_facts, spec_facts
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import superseded_tests
from agentforge.pipeline.repairs.table import Mended, mended
from agentforge.pipeline.stages import load_stages
from tests.support.run_states import with_fields
from tests.support.stage_states import BASELINE, before, inside

Make = Callable[..., Runtime]


def repaired(made: Runtime, stage: str, draft: dict[str, Any], **changes: Any) -> tuple[dict[str, Any], list[str]]:
    """The draft as it is judged, and the kinds of what was repaired."""
    result = mending(made, stage, draft, **changes)
    return dict(result.draft), [str(row["repair"]) for row in result.repairs]


def mending(made: Runtime, stage: str, draft: dict[str, Any], *, by: str = "model", **changes: Any) -> Mended:
    state = before(stage, base_commit=made.git.head()) if stage != "intake" else inside("intake")
    state = with_fields(state, repo=str(made.repo), submission=Submission(draft=draft, by=by), **changes)
    one = load_stages()[stage]
    return mended(state, one, contract_of(one, made), made)


SPEC: dict[str, Any] = {
    "title": "Loud",
    "description": "d",
    "requirements": [
        {"id": "REQ-001", "description": "slugify works", "acceptance_criteria": ["slugify('A b') -> 'a-b'"]}
    ],
    "files_to_modify": ["kit/text.py"],
}


def test_a_sound_draft_is_left_as_it_is(runtime: Make) -> None:
    assert mending(runtime(), "spec", SPEC) == Mended(draft=SPEC)


def test_what_the_user_or_the_harness_submits_is_never_touched(runtime: Make) -> None:
    draft = {**SPEC, "requirements": [{"id": "R1", "description": "x"}]}
    assert mending(runtime(), "spec", draft, by="user").draft == draft


@pytest.mark.parametrize(
    ("said", "ids"),
    [
        (["", ""], ["REQ-001", "REQ-002"]),
        (["REQ-1", "R2"], ["REQ-001", "REQ-002"]),
        (["REQ-001", "REQ-001"], ["REQ-001", "REQ-002"]),
        (["2", "REQ-002"], ["REQ-001", "REQ-002"]),
        ([7, None], ["REQ-007", "REQ-001"]),
    ],
)
def test_requirements_are_numbered(runtime: Make, said: list[Any], ids: list[str]) -> None:
    rows = [{"id": one, "description": f"{number} works"} for number, one in enumerate(said)]
    draft, told = repaired(runtime(), "spec", {**SPEC, "requirements": rows})
    assert [item["id"] for item in draft["requirements"]] == ids
    assert {"number", "criterion"} <= set(told)
    assert all(item["acceptance_criteria"] for item in draft["requirements"])


def test_paths_are_read_as_git_knows_them(runtime: Make) -> None:
    made = runtime()
    modify = ["./kit/text.py", "kit\\__init__.py", f"{made.repo}/kit/macro.xyz", "text.py", "kit/new.py", "kit/"]
    draft, _ = repaired(made, "spec", {**SPEC, "files_to_modify": modify, "files_to_create": ["kit/text.py:3"]})
    assert draft["files_to_modify"] == ["kit/text.py", "kit/__init__.py", "kit/macro.xyz"]
    assert draft["files_to_create"] == ["kit/new.py"]


def test_symbols_get_their_file_and_their_change_or_go(runtime: Make) -> None:
    symbols = [
        {"name": "shout", "change": "new"},
        {"name": "Shout.loud", "file": "./kit/text.py", "kind": "method", "change": "changed"},
        {"name": "area", "file": "kit/shapes.py", "kind": "function", "change": "new"},
        {"name": "nowhere", "file": "kit/text.py", "kind": "function", "change": "changed"},
        {"name": "loud", "file": "kit/text.py", "kind": "function", "change": "new"},
    ]
    draft, told = repaired(runtime(), "spec", {**SPEC, "symbols": symbols})
    assert [(item["name"], item["file"], item["change"], item["kind"]) for item in draft["symbols"]] == [
        ("shout", "kit/text.py", "changed", "function"),
        ("Shout.loud", "kit/text.py", "changed", "method"),
        ("area", "kit/shapes.py", "new", "function"),
        ("loud", "kit/text.py", "new", "function"),  # a method of that name is something else
    ]
    assert draft["files_to_create"] == ["kit/shapes.py"]
    assert told.count("symbol") == 5


def test_a_test_whose_title_is_made_in_a_loop_and_data_of_tests_may_be_declared_as_changed(runtime: Make) -> None:
    made = runtime()
    loop = "describe('links', () => lines.forEach((one, number) => it(`line ${number}`, () => check(one))))\n"
    for name, text in {"test/links.test.js": loop, "test/fixtures/links.txt": "localhost\n"}.items():
        (made.worktree / name).parent.mkdir(parents=True, exist_ok=True)
        (made.worktree / name).write_text(text)
    made.git.command.run("add", "-A")
    made.git.command.run("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "links")
    declared = [
        {"name": "links > line 38", "file": "test/links.test.js", "kind": "function", "change": "changed"},
        {"name": "test/fixtures/links.txt", "file": "test/fixtures/links.txt", "kind": "constant", "change": "changed"},
        {"name": "links.txt", "file": "test/fixtures/links.txt", "kind": "constant", "change": "changed"},
        {"name": "words > line 1", "file": "test/links.test.js", "kind": "function", "change": "changed"},
    ]
    draft, told = repaired(made, "spec", {**SPEC, "symbols": declared})
    assert [one["name"] for one in draft["symbols"]] == [one["name"] for one in declared[:3]]
    assert told == ["symbol"]
    state = before("spec", base_commit=made.git.head())
    facts: Any = spec_facts(state, draft, made)
    assert all(row["exists"] for row in facts["symbols"])


def test_examples_that_nothing_can_run_become_criteria(runtime: Make) -> None:
    request = "slugify('A b') -> 'a-b'. `kit width x` prints `2`, it should be `1`."
    intake = {"examples": ["slugify('A b') -> 'a-b'", "`kit width x` prints `2`, it should be `1`"]}
    rows = [
        {"id": "REQ-001", "description": "kit width counts", "acceptance_criteria": ["an 'x' is counted once"]},
        {"id": "REQ-002", "description": "slugify joins words", "acceptance_criteria": ["lower case"]},
    ]
    state = {"request": request, "artifacts": {"intake": intake}}
    draft, told = repaired(runtime(), "spec", {**SPEC, "requirements": rows}, **state)
    first, second = (item["acceptance_criteria"] for item in draft["requirements"])
    assert second == ["lower case"]
    assert first[-1] == intake["examples"][1]
    assert told == ["example"]


def test_a_row_of_a_table_whose_values_stand_in_the_criteria_is_not_added_again(runtime: Make) -> None:
    rows = ["| `'{x,y}` | | `'x`, `'y` |", "| `'{p,q}` | | `'p`, `'q` |"]
    state = {"request": "\n".join(["Add expand.", "", *rows]), "artifacts": {"intake": {"examples": rows}}}
    said = "expand('\\'{x,y}') gives [\"'x\", \"'y\"]"
    wanted = [{"id": "REQ-001", "description": "expand", "acceptance_criteria": [said]}]
    draft, told = repaired(runtime(), "spec", {**SPEC, "requirements": wanted}, **state)
    assert draft["requirements"][0]["acceptance_criteria"] == [said, rows[1]]
    assert told == ["example"]


def test_examples_that_nothing_can_check_are_left_out(runtime: Make) -> None:
    symbols = [{"name": "slugify", "file": "kit/slug.py", "kind": "function", "change": "new"}]
    examples = [
        {"call": "slugify('A')", "returns": "'a'"},
        {"call": "app.get('/x').json", "returns": "1"},
        {"call": "slugify(text)", "returns": "text.lower()"},
        {"call": "make_client().slug('A')", "returns": "'a'"},
        {"call": "Sub().render()", "returns": "'a'"},
    ]
    draft, told = repaired(runtime(), "spec", {**SPEC, "symbols": symbols, "examples": examples})
    assert [item["call"] for item in draft["examples"]] == ["slugify('A')"]
    assert told.count("example") == 4 + 0


def test_what_the_repairs_leave_of_a_poor_specification_passes_its_contract(runtime: Make) -> None:
    made = runtime()
    poor = {
        "title": "x" * 300,
        "requirements": [{"description": "slugify joins", "priority": "MUST", "verification_method": "unit test"}],
        "symbols": [{"name": "shout", "change": "new"}, {"file": "kit/none.py"}],
        "files_to_modify": "./kit/text.py",
        "files_to_create": None,
        "constraints": "stay small",
        "dependencies": None,
        "estimated_complexity": "low",
    }
    draft, _ = repaired(made, "spec", poor)
    state = with_fields(before("spec", base_commit=made.git.head()), submission=Submission(draft=draft, by="model"))
    facts = spec_facts(state, draft, made)
    stage = load_stages()["spec"]
    verdict = check(
        contract_of(stage, made), stage.complete(state, draft, facts), facts=facts, inputs=state.work.artifacts
    )
    assert [item.message for item in verdict.results if not item.passed] == []


def test_an_analysis_names_what_is_there(runtime: Make) -> None:
    made = runtime()
    draft = {
        "summary": "s",
        "impacted_files": ["./kit/text.py", "kit/gone.py", "text.py"],
        "modules": [{"path": "kit\\text.py"}, {"path": "none.py"}],
        "symbols": [
            {"name": "upper", "file": "kit/text.py", "line": 12},
            {"name": "shout", "file": "kit/gone.py", "line": "12"},
            {"name": "invented", "file": "kit/text.py"},
        ],
    }
    after, told = repaired(made, "analyze", draft)
    assert (after["impacted_files"], after["modules"]) == (["kit/text.py"], [{"path": "kit/text.py"}])
    assert [(item["name"], item["file"], item.get("line")) for item in after["symbols"]] == [
        ("upper", "kit/text.py", 12), ("shout", "kit/text.py", 12),
    ]  # fmt: skip
    assert {"path", "symbol"} <= set(told)
    state = with_fields(before("analyze", base_commit=made.git.head()), facts={"baseline": BASELINE})
    facts: Any = analyze_facts(state, after, made)
    assert all(row["found"] for row in facts["symbols"]) and all(row["exists"] for row in facts["paths"])


def test_intake_keeps_what_stands_in_the_request(runtime: Make) -> None:
    request = "f('a') -> 'b'. parse('851k') gives 851,\nit should be 851000."
    draft = {
        "extracted_intent": {"action": "bugfix"},
        "examples": ["f('a') -> 'b'", "f('z')"],
        "observed": ["parse('851k') gives 851", "parse('9k') gives 9"],
        "identified_ambiguities": [{"area": "x"}, {"question": "Case?"}, {"question": "Why?", "impact": "blocking"}],
    }
    after, told = repaired(runtime(), "intake", draft, request=request)
    assert (after["examples"], after["observed"]) == (["f('a') -> 'b'"], ["parse('851k') gives 851"])
    assert after["extracted_intent"]["action"] == "fix"
    assert [(item["question"], bool(item.get("default"))) for item in after["identified_ambiguities"]] == [
        ("Case?", True), ("Why?", False),
    ]  # fmt: skip
    assert sorted(told) == ["default", "example", "form", "question"]


def suite_of(made: Runtime, source: str) -> None:
    (made.worktree / "tests/test_slug.py").write_text(source, "utf-8")


def test_a_whole_sentence_that_nothing_can_run_is_an_ask_and_no_example(runtime: Make) -> None:
    prose = 'Take the first letter of every word, so that a name of three words has letters like "abc".'
    called = "For two words slugify('A b') -> 'a-b' in all links."
    cell = "`kit width x` prints `1`"
    request = f"{prose}\n{called}\n\n- {cell}\n"
    after, told = repaired(runtime(), "intake", {"examples": [prose, called, cell]}, request=request)
    assert after["examples"] == [called, cell]
    assert told == ["sentence"]


def test_tests_are_known_by_the_names_that_the_runner_reports(runtime: Make) -> None:
    made = runtime()
    suite_of(made, "class TestSlug:\n    def test_a(self):\n        pass\n\n\ndef test_b():\n    pass\n")
    names = ["tests/test_slug.py::test_a", "TestSlug.test_a", "test_b()", "test_slug.py::test_b", "test_b[x]"]
    files = [{"path": "./tests/test_slug.py", "tests": names}]
    draft, _ = repaired(made, "red", {"test_files": files})
    assert [test["name"] for test in draft["test_files"][0]["tests"]] == [
        "TestSlug::test_a", "TestSlug::test_a", "test_b", "test_b", "test_b[x]",
    ]  # fmt: skip


def test_subtests_of_go_run_with_their_function(runtime: Make) -> None:
    made, path = runtime(), "kit/kit_test.go"
    source = 'package kit\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tt.Run("b c", func(t *testing.T) {})\n}\n'
    (made.worktree / path).write_text(source, "utf-8")
    draft, _ = repaired(made, "red", {"test_files": [{"path": path, "tests": ["TestA/b_c", "TestA", "TestB/d"]}]})
    assert [test["name"] for test in draft["test_files"][0]["tests"]] == ["TestA", "TestA", "TestB/d"]


@pytest.mark.parametrize("files", [None, [{"path": "tests/test_slug.py", "purpose": "slugs"}]], ids=["alone", "beside"])
def test_tests_that_are_listed_by_themselves_stand_under_their_files(runtime: Make, files: Any) -> None:
    made = runtime()
    suite_of(made, "def test_a():\n    pass\n\n\ndef test_b():\n    pass\n")
    rows = [{"name": name, "file": "tests/test_slug.py", "kind": "target"} for name in ("test_a", "test_b")]
    draft, told = repaired(made, "red", {"tests": rows, **({"test_files": files} if files else {})})
    ((path, names),) = [(one["path"], [test["name"] for test in one["tests"]]) for one in draft["test_files"]]
    assert (path, names, "tests" in draft, told[0]) == ("tests/test_slug.py", ["test_a", "test_b"], False, "path")


def test_a_symbol_of_another_kind_stays_and_a_test_is_known_with_its_class(runtime: Make) -> None:
    made, path = runtime(), "tests/test_slug.py"
    suite_of(made, "class TestSlug:\n    def test_a(self):\n        pass\n\n\ndef test_b():\n    pass\n")
    made.git.command.run("add", "-A")
    made.git.command.run("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "tests")
    rows = [
        {"name": "Text.width", "file": "kit/text.py", "kind": "attribute", "change": "new"},
        {"name": "Align", "file": "kit/text.py", "kind": "enum", "change": "new"},
        {"name": "test_a", "file": path, "kind": "method", "change": "changed"},
        {"name": "test_b", "file": path, "kind": "function", "change": "changed"},
    ]
    draft, _ = repaired(made, "spec", {**SPEC, "symbols": rows})
    assert [(one["name"], one["kind"]) for one in draft["symbols"]] == [
        ("Text.width", "constant"), ("Align", "class"), ("TestSlug.test_a", "method"), ("test_b", "function"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["TestA/b_/c", "TestA[b_/c]", "TestA > b_/c", "TestA"])
def test_a_changed_subtest_of_go_is_its_function_in_any_spelling(runtime: Make, name: str) -> None:
    made, path = runtime(), "kit/kit_test.go"
    source = (
        'package kit\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tt.Run("b /c", func(t *testing.T) {})\n}\n'
    )
    (made.worktree / path).write_text(source, "utf-8")
    made.git.command.run("add", "-A")
    made.git.command.run("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "go")
    rows = [{"name": one, "file": path, "kind": "function", "change": "changed"} for one in (name, "TestA")]
    draft, told = repaired(made, "spec", {**SPEC, "symbols": rows})
    assert [(one["name"], one["file"]) for one in draft["symbols"]] == [("TestA", path)], told


def test_a_title_that_ends_like_a_call_stays_as_it_is(runtime: Make) -> None:
    made, path = runtime(), "tests/slug.test.js"
    source = "describe('slug', () => { it('slugify()', () => {}); it('slugify(undefined)', () => {}); });\nit('join()', () => {});\n"
    (made.worktree / path).write_text(source, "utf-8")
    names = ["slug > slugify()", "slug > slugify(undefined)", "join()"]
    draft, told = repaired(made, "red", {"test_files": [{"path": path, "tests": names}]})
    assert [test["name"] for test in draft["test_files"][0]["tests"]] == names, told


def test_references_and_criteria_are_mapped_where_one_candidate_fits(runtime: Make) -> None:
    made = runtime()
    suite_of(made, "def test_a():\n    assert slugify('A b') == 'a-b'\n\n\ndef test_b():\n    pass\n")
    tests = [
        {"name": "test_a", "requirement_ref": "REQ-1, REQ-2", "acceptance_criterion": "1"},
        {"name": "test_b", "acceptance_criterion": "REQ-001.2"},
    ]
    draft, _ = repaired(made, "red", {"test_files": [{"path": "tests/test_slug.py", "tests": tests}]})
    first, second = draft["test_files"][0]["tests"]
    assert (first["requirement_ref"], first["acceptance_criterion"]) == ("REQ-001", "1, REQ-002.1")
    assert second["requirement_ref"] == "REQ-001"


def test_a_criterion_whose_values_no_test_asserts_is_not_mapped(runtime: Make) -> None:
    made = runtime()
    suite_of(made, "def test_a():\n    assert slugify('A') == 'a'\n")
    tests = [{"name": "test_a", "requirement_ref": "REQ-001", "acceptance_criterion": "REQ-001.2, REQ-002.1"}]
    draft, _ = repaired(made, "red", {"test_files": [{"path": "tests/test_slug.py", "tests": tests}]})
    assert "REQ-001.1" not in draft["test_files"][0]["tests"][0]["acceptance_criterion"]


@pytest.mark.parametrize("said", ["loud > keeps 1.5 as it is", "keeps 1.5 as it is", "loud keeps 1.5 as it is"])
def test_a_test_that_is_declared_by_its_title_stays_under_its_full_title(runtime: Make, said: str) -> None:
    made = runtime()
    (made.worktree / "loud.test.js").write_text(
        "describe('loud', () => {\n  test('keeps 1.5 as it is', () => {})\n})\n"
    )
    made.git.command.output("add", "loud.test.js")
    made.git.command.output("commit", "-qm", "a titled test")
    titles = [(name, "changed") for name in (said, "loud > is nowhere")]
    symbols = [{"name": name, "file": "loud.test.js", "kind": "function", "change": change} for name, change in titles]
    draft, _ = repaired(made, "spec", {**SPEC, "symbols": symbols})
    assert [row["name"] for row in draft["symbols"]] == ["loud > keeps 1.5 as it is"]
    assert "loud.test.js::loud > keeps 1.5 as it is" in superseded_tests(draft)


FILES = {
    "src/area.js": "export default function (r) { return r; }\n",
    "src/locale.js": "export default (n) => n + 1;\n",
    "src/edge.cjs": "module.exports = (n) => n + 2;\n",
    "src/other.js": "export default (n) => n;\n",
    "src/index.js": 'export { default as formatLocale } from "./locale.js";\nimport away from "other";\n',
    "index.cjs": 'exports.side = require("./src/edge");\n',
}


@pytest.mark.parametrize(
    ("name", "file", "held"),
    [
        ("area", "src/area.js", True),
        ("formatLocale", "src/locale.js", True),
        ("side", "src/edge.cjs", True),
        ("formatLocale", "src/other.js", False),
        ("away", "src/other.js", False),
        ("nowhere", "src/locale.js", False),
    ],
)
def test_a_default_export_without_a_name_is_known_by_the_name_that_it_is_given(
    runtime: Make, name: str, file: str, held: bool
) -> None:
    made = runtime()
    (made.worktree / "src").mkdir()
    for path, text in FILES.items():
        (made.worktree / path).write_text(text, "utf-8")
    made.git.command.output("add", "src", "index.cjs")
    made.git.command.output("commit", "-qm", "defaults")
    symbols = [{"name": name, "file": file, "kind": "function", "change": change} for change in ("changed", "new")]
    for given in symbols:
        draft, _ = repaired(made, "spec", {**SPEC, "symbols": [given], "files_to_modify": [file]})
        told = [(row["name"], row["file"], row["change"]) for row in draft["symbols"]]
        assert told == (
            [(name, file, "changed")] if held else [(name, file, "new")] if given["change"] == "new" else []
        )
        if held:
            state = before("spec", base_commit=made.git.head())
            facts: Any = spec_facts(state, draft, made)
            assert [row["exists"] for row in facts["symbols"]] == [True]
