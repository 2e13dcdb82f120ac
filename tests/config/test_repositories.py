"""The registry of repositories: its form, its two layers, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.config.repositories import (
    Repository,
    add_entry,
    contracts_folders,
    known_repositories,
    registry_file,
    remove_entry,
)
from agentforge.errors import ConfigError, ConflictError, UsageError

WRITTEN = """repositories:
  - name: "backend-service"
    path: "{}/backend"
    default_branch: "main"
    contracts_path: "contracts/"

  - name: "data-layer"
    path: "{}/data"
    default_branch: "develop"
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "backend" / "contracts").mkdir(parents=True)
    (tmp_path / "data").mkdir()
    return {"AGENTFORGE_HOME": str(tmp_path / "af"), "HOME": str(tmp_path)}


def write(environ: dict[str, str], text: str) -> Path:
    file = registry_file(environ)
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def test_a_file_in_the_form_of_the_specification_is_read(environ: dict[str, str], tmp_path: Path) -> None:
    write(environ, WRITTEN.format(tmp_path, tmp_path))
    known = known_repositories(environ)
    assert list(known) == ["backend-service", "data-layer"]
    assert (known["data-layer"].path, known["data-layer"].default_branch) == (tmp_path / "data", "develop")
    assert known["backend-service"].contracts_path == "contracts/"


def test_what_is_written_is_read_again(environ: dict[str, str], tmp_path: Path) -> None:
    for name, branch in (("b-1", "main"), ('d"x'.replace('"', "."), "deve lop")):
        (tmp_path / name).mkdir()
        add_entry(environ, Repository(name=name, path=tmp_path / name, default_branch=branch))
    known = known_repositories(environ)
    assert [(item.name, item.default_branch) for item in known.values()] == [("b-1", "main"), ("d.x", "deve lop")]
    remove_entry(environ, "b-1")
    assert list(known_repositories(environ)) == ["d.x"]


def test_without_agentforge_home_the_registry_lies_in_the_home() -> None:
    assert registry_file({"HOME": "/home/ann"}) == Path("/home/ann/.agentforge/repos.yaml")


def test_a_project_overrides_by_name(environ: dict[str, str], tmp_path: Path) -> None:
    write(environ, WRITTEN.format(tmp_path, tmp_path))
    own = tmp_path / "backend" / ".agentforge" / "config" / "repos.yaml"
    own.parent.mkdir(parents=True)
    own.write_text('repositories:\n  - name: "data-layer"\n    path: "../other"\n')
    known = known_repositories(environ, project=tmp_path / "backend")
    assert known["data-layer"].path == tmp_path / "other"
    assert list(known) == ["backend-service", "data-layer"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- a", "repositories"),
        ("repositories: {}", "repositories"),
        ("repositories:\n  - name: a", "path is missing"),
        ("repositories:\n  - {name: a, path: /x, colour: red}", "unknown key colour"),
        ("repositories:\n  - {name: a, path: 3}", "must be text"),
        ("repositories:\n  - {name: 'a b', path: /x}", "cannot be a name"),
        ("repositories:\n  - {name: a, path: /x}\n  - {name: a, path: /y}", "appears twice"),
        ("repositories:\n  - {name: a, path: /x}\n  - {name: b, path: /x/../x}", "two names"),
        ("repositories: [", "not YAML"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(environ: dict[str, str], text: str, told: str) -> None:
    write(environ, text)
    with pytest.raises(ConfigError, match=told):
        known_repositories(environ)


def test_two_names_for_one_path_are_refused_also_through_a_link(environ: dict[str, str], tmp_path: Path) -> None:
    add_entry(environ, Repository(name="data", path=tmp_path / "data"))
    (tmp_path / "link").symlink_to(tmp_path / "data")
    with pytest.raises(ConflictError, match="known as data"):
        add_entry(environ, Repository(name="again", path=tmp_path / "link"))


def test_a_name_is_kept_by_a_repository_that_moved_and_by_no_other(environ: dict[str, str], tmp_path: Path) -> None:
    add_entry(environ, Repository(name="data", path=tmp_path / "data"))
    with pytest.raises(ConflictError, match="is the name of"):
        add_entry(environ, Repository(name="data", path=tmp_path / "backend"))
    (tmp_path / "data").rename(tmp_path / "moved")
    add_entry(environ, Repository(name="data", path=tmp_path / "moved"))
    assert known_repositories(environ)["data"].path == tmp_path / "moved"


def test_an_unknown_name_is_answered_with_the_nearest(environ: dict[str, str], tmp_path: Path) -> None:
    write(environ, WRITTEN.format(tmp_path, tmp_path))
    with pytest.raises(UsageError, match="did you mean data-layer"):
        remove_entry(environ, "data-layr")


def test_contracts_lie_where_the_registry_says_too(environ: dict[str, str], tmp_path: Path) -> None:
    write(environ, WRITTEN.format(tmp_path, tmp_path))
    own = tmp_path / "backend" / ".agentforge" / "contracts"
    assert contracts_folders(tmp_path / "backend", environ) == (tmp_path / "backend" / "contracts", own)
    write(environ, WRITTEN.format(tmp_path, tmp_path).replace("contracts/", "../data"))
    with pytest.raises(ConfigError, match="leads out"):
        contracts_folders(tmp_path / "backend", environ)
