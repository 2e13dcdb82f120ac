"""Settings files as values with lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.config.paths import project_top
from agentforge.config.sources import read_toml, read_yaml, toml_lines
from agentforge.errors import ConfigError

TOML = '''# a comment
approval = "auto"

[model]
name = "x"   # [not.a.table]
fallbacks = [
  "a/b",
  "c/d",
]

[test]
command = """
[limits]
max_steps = 7
"""
env.A = "1"

[[hooks]]
name = "h"
'''


def test_every_toml_key_has_its_line_even_after_strings_that_look_like_keys() -> None:
    assert toml_lines(TOML) == {
        ("approval",): 2,
        ("model",): 4,
        ("model", "name"): 5,
        ("model", "fallbacks"): 6,
        ("test",): 11,
        ("test", "command"): 12,
        ("test", "env", "A"): 16,
        ("hooks",): 18,
        ("hooks", "name"): 19,
    }


def test_yaml_and_toml_give_the_same_values(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[model]\nname = "x"\n[limits]\nmax_steps = 3\n')
    (tmp_path / "a.yaml").write_text("model:\n  name: x\nlimits: {max_steps: 3}\n")
    toml, yaml = read_toml(tmp_path / "a.toml", project=True), read_yaml(tmp_path / "a.yaml", project=True)
    assert toml is not None
    assert yaml is not None
    assert toml.values == yaml.values
    assert yaml.place(("model", "name")).endswith("a.yaml:2")
    assert toml.place(("model", "name")).endswith("a.toml:2")
    assert toml.place(("model", "other")).endswith("a.toml")


def test_a_missing_file_is_no_layer_and_an_empty_one_is_empty(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    assert read_toml(tmp_path / "none", project=False) is None
    assert read_yaml(tmp_path / "none", project=False) is None
    for layer in (read_toml(tmp_path / "empty", project=False), read_yaml(tmp_path / "empty", project=False)):
        assert layer is not None
        assert layer.values == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: ]", "s.yaml line 2"),
        ("a: 1\n\tb: 2", "s.yaml line 2"),
        ("- a", "s.yaml is not a mapping"),
        ("a: 1\na: 2", "s.yaml line 2: the key 'a' stands twice"),
        ("a: &x {b: 1}\nc: *x", "anchors and aliases"),
        ("a: !!python/name:os.system", "tag"),
        ("[a]: 1", "not a string"),
        ("a: 1\n---\nb: 1", "s.yaml line 2"),
    ],
)
def test_odd_yaml_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_yaml(tmp_path / "s.yaml", project=True)


def test_a_yaml_date_is_a_string(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("user_instructions: 2025-01-01")
    layer = read_yaml(tmp_path / "s.yaml", project=True)
    assert layer is not None
    assert layer.values == {"user_instructions": "2025-01-01"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a = 1\nb = ]\n", r"s.toml is not TOML: .*line 2"),
        (b"a = 2025-01-01", "a is a date"),
        (b"\xff\xfe", "is not UTF-8: byte 0"),
        (b"a = 1\n" * 200_000, "has 1200000 bytes"),
    ],
)
def test_odd_toml_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "s.toml").write_bytes(data)
    with pytest.raises(ConfigError, match=message):
        read_toml(tmp_path / "s.toml", project=True)


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _circle(path: Path) -> None:
    path.symlink_to(path.name)


def _nowhere(path: Path) -> None:
    path.symlink_to("gone.toml")


@pytest.mark.parametrize("make", [_folder, _pipe, _circle, _nowhere])
def test_what_stands_in_the_place_of_settings_and_is_no_file_is_told_and_not_passed_over(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    file = tmp_path / ".agentforge" / "config.toml"
    file.parent.mkdir()
    make(file)
    assert project_top(tmp_path, {"HOME": "/nowhere"}) == tmp_path
    with pytest.raises(ConfigError, match=r"config\.toml (is not a file|leads to|cannot be read)"):
        read_toml(file, project=True)


def test_the_null_device_is_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").symlink_to(os.devnull)
    layer = read_toml(tmp_path / "config.toml", project=False)
    assert layer is not None and layer.values == {}
