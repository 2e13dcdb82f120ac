"""Which changes steer the test runner."""

from __future__ import annotations

import pytest

from agentforge.verification.source.runner_configuration import steering_by, steering_changes


def _changes(path, before, after, **options):
    return steering_changes(
        [path],
        before=lambda _: None if before is None else before.encode(),
        after=lambda _: None if after is None else after.encode(),
        **options,
    )


@pytest.mark.parametrize(
    ("path", "before", "after", "counts"),
    [
        ("pyproject.toml", "[project]\nversion='1'\n", "[project]\nversion='2'\n", False),
        ("pyproject.toml", "[project]\n", "[tool.pytest.ini_options]\naddopts='-k x'\n", True),
        ("pyproject.toml", None, "[project]\nname='x'\n", False),
        ("setup.cfg", "[metadata]\nname=a\n", "[metadata]\nname=b\n", False),
        ("setup.cfg", "[tool:pytest]\n", "[metadata]\nname=a\n", True),
        ("tox.ini", None, "[pytest]\naddopts=-x\n", True),
        ("tests/conftest.py", "a = 1\n", "a = 2\n", True),
        ("tests/conftest.py", "a = 1\n", None, True),
        ("pytest.ini", None, "", True),
        ("pytest.py", None, "x", True),
        ("src/pkg/pytest.py", None, "x", False),
        ("package.json", '{"version": "1"}', '{"version": "2"}', False),
        ("package.json", '{"scripts": {"test": "a"}}', '{"scripts": {"test": "b"}}', True),
        ("pyproject.toml", "[project]\n", "[broken", True),
        ("product.py", "a", "b", False),
        ("vite.config.ts", "a", "b", True),
        ("web/.mocharc.yaml", None, "spec: x", True),
        ("Cargo.toml", "[package]\nname='a'\n", "[package]\nname='a'\n[dependencies]\nx='1'\n", False),
        ("Cargo.toml", "[package]\nname='a'\n", "[package]\nname='a'\n[[test]]\nname='t'\nharness=false\n", True),
        ("Cargo.toml", "[package]\nname='a'\n", "[package]\nname='a'\nautotests=false\n", True),
        ("Cargo.toml", "[features]\ndefault=['a']\na=[]\n", "[features]\ndefault=['a']\na=[]\nb=[]\n", False),
        ("Cargo.toml", "[features]\ndefault=['a']\na=[]\n", "[features]\ndefault=['a', 'b']\na=[]\nb=[]\n", False),
        ("Cargo.toml", "[features]\ndefault=['a']\na=[]\n", "[features]\ndefault=['a']\na=['b']\nb=[]\n", False),
        ("Cargo.toml", "[features]\ndefault=['a']\na=[]\nc=[]\n", "[features]\ndefault=['a', 'b']\na=[]\nb=['c']\nc=[]\n", True),
        ("Cargo.toml", "[features]\ndefault=['a']\na=[]\n", "[features]\ndefault=['a', 'rand']\na=[]\n[dependencies]\nrand = {version='1', optional=true}\n", True),
        ("Cargo.toml", "[features]\ndefault=['a']\na=[]\n", "[features]\ndefault=['b']\na=[]\nb=[]\n", True),
        (".cargo/config.toml", None, "[target.x]\nrunner='true'\n", True),
        ("go.mod", "module a\ngo 1.19\n", "module a\ngo 1.19\nrequire b v1\n", False),
        ("go.mod", "module a\ngo 1.19\n", "module a\ngo 1.19\nreplace (\n\tb => ./c\n)\n", True),
    ],
)  # fmt: skip
def test_only_what_steers_the_runner_counts(path, before, after, counts):
    assert _changes(path, before, after) == ((path,) if counts else ())


def test_what_red_declared_is_allowed():
    assert _changes("tests/conftest.py", None, "x", allowed=("tests/conftest.py",)) == ()


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("Move src/build.rs; Cargo.toml has to follow.", ["Cargo.toml", "src/build.rs"]),
        ("Let the build script, build.rs, say so.", ["src/build.rs"]),
        ("Make it faster, the cargo way.", []),
        ("The other/build.rs is too slow.", []),
    ],
)
def test_a_file_that_people_name_may_steer_the_runner_in_another_way(told, asked):
    before = {"Cargo.toml": b"[package]\nbuild = 'a.rs'\n", "src/build.rs": b"fn main() {}\n", "README.md": b"a"}
    unasked, found = steering_by(told, before, before=before.get, after=lambda _: b"[package]\n")
    assert sorted(found) == asked
    assert sorted((*unasked, *found)) == ["Cargo.toml", "src/build.rs"]
