"""Views of tests: the place where new ones go, and of frozen ones what is new in them before everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.context.packer import fill, law_tokens
from agentforge.context.sections import NEWEST, Level, View, Want, view_of
from agentforge.pipeline.context.excerpts import code_view
from agentforge.pipeline.context.excerpts_of_tests import frozen_views, listed_views, style_views

TESTS = (
    "import pytest\nfrom kit.long import walk, find\n\n\n@pytest.fixture\ndef wood():\n    return 1\n\n\n"
    + "".join(
        f"def test_{name}_{number}(wood):\n    assert {name}({number}) == {number}\n\n\n"
        for name in ("walk", "find", "other")
        for number in range(40)
    )
)


LONG = {"one": 4, "three": 90, "two": 8, "four": 70, "five": 20}
ADDED = "def test_added(wood):\n    assert walk(77) == 77\n\n\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_long.py").write_text(TESTS)
    (tmp_path / "tests" / "test_other.py").write_text("def test_nothing():\n    pass\n")
    (tmp_path / "tests" / "long.json").write_text('{"walk": "find"}')
    return tmp_path


def text_of(view: View, *, room: int) -> str:
    return fill([view], room=room, least=Level.NAMED).text


def law_of(view: View) -> list[str]:
    wants = [want for want in view.wants if want.level == Level.LAW]
    return [view.lines[number] for want in wants for number in range(want.first, want.last + 1)]


def test_tests_are_shown_with_imports_fixtures_the_nearest_test_and_the_place_where_new_ones_go(root: Path) -> None:
    view, *_ = style_views(
        root,
        near=["kit/long.py"],
        tests=["tests/long.json", "tests/test_other.py", "tests/test_long.py"],
        names=["find"],
    )
    text = text_of(view, room=1500)
    assert view.path == "tests/test_long.py"
    assert "from kit.long import walk, find" in text and "def wood():" in text
    assert "def test_find_0(wood):" in text
    assert "def test_other_39(wood):" in text


TITLED = "const { it, describe } = require('node:test');\n" + "".join(
    f"describe('{group}', () => {{\n"
    + "".join(f"  it('case {n}', () => {{\n    same({n}, '{group}');\n  }});\n" for n in range(30))
    + "});\n"
    for group in ("red", "blue")
)


@pytest.mark.parametrize(
    ("path", "text", "name", "line"),
    [
        ("tests/test_long.py", TESTS, "test_other_17[a-1]", "assert other(17) == 17"),
        (
            "tests/test_class.py",
            "class TestA:\n    def test_x(self):\n        assert 1\n" * 1,
            "TestA::test_x",
            "assert 1",
        ),
        ("a_test.go", 'package a\n\nfunc TestA(t *testing.T) {\n\tt.Run("b", nil)\n}\n', "TestA/b", 't.Run("b", nil)'),
        ("test/a.js", TITLED, "blue > case 17", "same(17, 'blue');"),
        ("test/a.js", TITLED, "suite > file > blue > case 3", "same(3, 'blue');"),
    ],
)
def test_a_test_that_is_to_be_changed_is_found_as_its_runner_names_it(
    tmp_path: Path, path: str, text: str, name: str, line: str
) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    (view,) = listed_views(tmp_path, {path: [name], "tests/gone.py": ["test_gone"]})
    assert {want.level for want in view.wants} == {Level.ASKED}
    assert line in [view.lines[number].strip() for want in view.wants for number in range(want.first, want.last + 1)]


def test_listed_tests_are_whole_as_far_as_they_fit_and_come_behind_what_the_model_asked_for(tmp_path: Path) -> None:
    bodies = {
        name: "".join(f"    assert {name}({row}) == {row}\n" for row in range(rows)) for name, rows in LONG.items()
    }
    text = "".join(f"def test_{name}():\n{body}\n\n" for name, body in bodies.items())
    (tmp_path / "test_kit.py").write_text(text)
    (listed,) = listed_views(tmp_path, {"test_kit.py": [f"test_{name}" for name in bodies]})
    whole = [name for name, body in bodies.items() if all(row in text_of(listed, room=900) for row in body.split("\n"))]
    assert whole == ["one", "two", "five"]
    asked = Want(first=1, last=60, level=Level.ASKED, order=NEWEST - 1)
    other = view_of("other.py", "".join(f"line_{row} = {row}\n" for row in range(60)), [asked], digest="d", state="now")
    shown = fill([listed, other], room=900, least=Level.NAMED).shown
    assert len(shown["other.py"]) == 60
    assert "test_one" in "".join(shown["test_kit.py"].values())


def test_a_test_file_that_was_named_comes_before_one_that_looks_likelier(root: Path) -> None:
    view, *_ = style_views(
        root, near=["long.py"], tests=["tests/test_long.py"], names=["find"], named=["tests/test_other.py"]
    )
    assert view.path == "tests/test_other.py"


def test_what_a_build_made_of_tests_is_no_example_of_how_tests_look(root: Path) -> None:
    (root / "dist").mkdir()
    (root / "dist" / "test_long.py").write_text(TESTS)
    views = style_views(root, near=["kit/long.py"], tests=["dist/test_long.py", "tests/test_long.py"], names=["find"])
    assert [view.path for view in views] == ["tests/test_long.py"]


def test_a_binary_file_among_the_tests_is_no_example_of_how_tests_look(root: Path) -> None:
    names = ("tests/package.zip", "tests/test_long_recorded.py")
    for name in names:
        (root / name).write_bytes(b"PK\x03\x04\0\0find long")
    shown = style_views(root, near=["kit/long.py"], tests=[*names, "tests/test_long.py"], names=["find"], named=names)
    assert not {view.path for view in shown} & set(names)


def test_of_every_test_file_that_was_named_the_end_is_shown_and_no_other_file(root: Path) -> None:
    named = [f"tests/test_part_{number}.py" for number in range(6)]
    for path in named:
        (root / path).write_text(f"{TESTS}def test_last():\n    assert find(0) == {path[-4]}\n")
    views = style_views(root, near=["kit/long.py"], tests=["tests/test_long.py", *named], names=["find"], named=named)
    page = fill(views, room=2000, least=Level.NAMED)
    assert {view.path for view in views} == set(named)
    assert all(f"assert find(0) == {number}" in page.text for number in range(6))


def test_of_a_long_frozen_file_what_is_new_in_it_is_law(root: Path) -> None:
    half = TESTS.index("def test_find_7(")
    (root / "tests" / "test_long.py").write_text(TESTS[:half] + ADDED + TESTS[half:])
    suite = {"tests/test_long.py": ["test_added", "test_walk_7"]}
    (view,) = frozen_views(root, suite, before=lambda _path: TESTS, whole=500, law=900)
    assert "\n".join(law_of(view)).strip() == ADDED.strip()
    text = text_of(view, room=700)
    assert "def wood():" in text and "assert walk(7) == 7" in text
    assert "test_other_30" not in text
    (whole,) = frozen_views(root, suite, before=lambda _path: TESTS, whole=50_000, law=900)
    assert len(law_of(whole)) > 300


def test_a_frozen_file_that_the_run_did_not_change_has_its_declared_tests_as_law(root: Path) -> None:
    (view,) = frozen_views(
        root, {"tests/test_long.py": ["test_walk_7"]}, before=lambda _path: TESTS, whole=500, law=900
    )
    assert law_of(view) == ["def test_walk_7(wood):", "    assert walk(7) == 7"]


def test_the_law_of_many_frozen_files_is_bounded_and_shared(root: Path) -> None:
    paths = [f"tests/test_new_{number}.py" for number in range(4)]
    for path in paths:
        (root / path).write_text(TESTS)
    views = frozen_views(
        root, {path: [] for path in ("tests/test_other.py", *paths)}, before=lambda _path: "", whole=300, law=1200
    )
    assert law_of(views[0]) == ["def test_nothing():", "    pass"]
    assert all(law_of(view)[:2] == TESTS.split("\n")[:2] for view in views[1:])
    assert 1000 < law_tokens(views) < 1600
    rest = [want for want in views[1].wants if want.level == Level.NAMED and want.last >= 300]
    assert rest and rest[0].why == "new in the frozen tests"


def test_what_is_to_be_changed_is_shown_before_the_rest_of_long_frozen_tests(root: Path) -> None:
    body = "".join(f"    step_{number} = {number} + by  # of the walk\n" for number in range(120))
    (root / "kit.py").write_text(f"def walk(by):\n{body}    return by\n")
    (tests,) = frozen_views(root, {"tests/test_long.py": []}, before=lambda _path: "", whole=300, law=400)
    code = code_view(root, "kit.py", names=["walk"], changed=["walk"])
    assert code is not None
    text = fill([tests, code], room=3200, least=Level.NAMED).text
    assert "step_119 = 119" in text and "def walk(by)" in text


def _written(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_the_nearest_test_of_javascript_is_the_one_with_the_titles_that_fit(tmp_path: Path) -> None:
    def case(word: str, number: int) -> str:
        return f"  it('{word}s number {number}', () => {{\n    expect(kit.{word}({number})).toBe({number});\n  }});\n"

    cases = "".join(case(word, number) for word in ("walk", "seek", "other") for number in range(40))
    _written(
        tmp_path, "test/kit.test.js", f"import * as kit from '../kit.js';\n\ndescribe('kit', () => {{\n{cases}}});\n"
    )
    (view,) = style_views(tmp_path, near=["kit.js"], tests=["test/kit.test.js"], names=["seek"])
    text = text_of(view, room=700)
    assert "expect(kit.seek(" in text
    assert "expect(kit.walk(" not in text


def test_a_test_that_bears_the_name_of_what_changes_is_near_though_it_calls_something_else(tmp_path: Path) -> None:
    tests = "".join(f"def test_{name}():\n    run({name!r})\n\n\n" for name in ("first", "must_get_float", "last") * 40)
    _written(tmp_path, "tests/test_kit.py", tests)
    (view,) = style_views(tmp_path, near=["kit.py"], tests=["tests/test_kit.py"], names=["Kit.get_float"])
    assert "def test_must_get_float" in text_of(view, room=300)


@pytest.mark.parametrize(
    ("request_text", "near"),
    [
        ("The value '>' is lost in `wide > text`.", "def test_20()"),
        ("Gaps behind the last paragraph", "def test_last_paragraph()"),
    ],
    ids=["quoted", "named"],
)
def test_a_test_that_holds_what_the_request_quotes_or_bears_its_words_is_near(
    tmp_path: Path, request_text: str, near: str
) -> None:
    tests = [f"def test_{number}():\n    assert run('text {number}') == 'text'\n\n\n" for number in range(60)]
    tests[20] = "def test_20():\n    assert run('wide > text') == 'text'\n\n\n"
    tests[40] = "def test_last_paragraph():\n    assert run('text 40') == 'text'\n\n\n"
    _written(tmp_path, "tests/test_kit.py", "".join(tests))
    (view,) = style_views(
        tmp_path, near=["kit.py"], tests=["tests/test_kit.py"], names=["run"], words=["text"], request=request_text
    )
    assert near in text_of(view, room=300)


def test_the_end_of_the_class_of_the_nearest_test_is_shown_for_a_new_test_to_go_there(tmp_path: Path) -> None:
    def group(name: str) -> str:
        methods = "".join(f"    def test_{name}_{number}(self):\n        {name}({number})\n\n" for number in range(40))
        return f"class Test{name.title()}:\n{methods}\n"

    _written(tmp_path, "tests/test_kit.py", "".join(map(group, ("walk", "seek", "other"))))
    (view,) = style_views(tmp_path, near=["kit.py"], tests=["tests/test_kit.py"], names=["seek"])
    text = text_of(view, room=500)
    assert "test_seek_39" in text
    assert "test_walk_39" not in text


def test_further_tests_are_wanted_as_far_as_a_longer_look_is_worth_it(root: Path) -> None:
    view, *_ = style_views(root, near=["kit/long.py"], tests=["tests/test_long.py"], names=["find"])
    likely = [want for want in view.wants if want.level == Level.LIKELY]
    assert len(likely) == 39 and all("find(" in view.lines[want.last] for want in likely)
    long = TESTS.replace("    assert find", f"    {'a = 1; ' * 20}\n    assert find")
    _written(root, "tests/test_long.py", long)
    view, *_ = style_views(root, near=["kit/long.py"], tests=["tests/test_long.py"], names=["find"])
    assert 0 < sum(want.level == Level.LIKELY for want in view.wants) < 39
