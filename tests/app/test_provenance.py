"""What a run depends on, by digest, and the tests that a user hands over."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.app.composition.provenance import digests, supplied_tests
from agentforge.config.settings import load
from agentforge.errors import UsageError
from agentforge.store.blobs import Blobs


def test_a_file_of_the_repository_keeps_its_path(repo: Path) -> None:
    assert supplied_tests(("test_a.py",), cwd=repo / "tests", repo=repo) == {"tests/test_a.py": b"def test_a(): pass\n"}


def test_a_file_from_elsewhere_goes_to_the_tests(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text("x = 1\n")
    assert supplied_tests((str(tmp_path / "test_own.py"),), cwd=repo, repo=repo) == {"tests/test_own.py": b"x = 1\n"}


def test_a_folder_gives_its_source_files_with_their_order_kept(repo: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    for name in ("test_a.py", "deep/test_a.py", "deep/data.json", "web/a.test.ts"):
        (suite / name).parent.mkdir(parents=True, exist_ok=True)
        (suite / name).write_text(name)
    found = supplied_tests((str(suite),), cwd=repo, repo=repo)
    assert found == {
        "tests/deep/test_a.py": b"deep/test_a.py", "tests/test_a.py": b"test_a.py", "tests/web/a.test.ts": b"web/a.test.ts",
    }  # fmt: skip
    assert list(supplied_tests(("tests",), cwd=repo, repo=repo)) == ["tests/test_a.py"]


def test_two_files_for_one_place_are_refused_and_the_same_file_twice_is_not(repo: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test_x.py").write_text(name)
    both = tuple(str(tmp_path / name / "test_x.py") for name in ("one", "two"))
    with pytest.raises(UsageError, match=r"two files belong to tests/test_x\.py"):
        supplied_tests(both, cwd=repo, repo=repo)
    assert supplied_tests((both[0], both[0]), cwd=repo, repo=repo) == {"tests/test_x.py": b"one"}


@pytest.mark.parametrize(("given", "word"), [("nowhere.py", "no such file"), (".", "holds no test files")])
def test_paths_without_tests_are_refused(repo: Path, tmp_path: Path, given: str, word: str) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match=word):
        supplied_tests((given,), cwd=empty, repo=repo)


def test_a_run_names_its_settings_contracts_prompts_and_tests(repo: Path, tmp_path: Path) -> None:
    settings = load(repo, {"AGENTFORGE_HOME": str(repo.parent / "home" / "af"), "HOME": str(repo.parent / "home")})
    first = digests(settings, repo, tmp_path / "run", {"tests/t.py": b"x"})
    assert Blobs(tmp_path / "run" / "blobs").get(first["tests"]["tests/t.py"]) == b"x"  # type: ignore[index]
    assert all(len(str(first[name])) == 64 for name in ("settings", "contracts", "prompts"))
    assert digests(settings, repo, tmp_path / "run", {"tests/t.py": b"x"}) == first
    own = repo / ".agentforge" / "contracts" / "specification.yaml"
    own.parent.mkdir(parents=True)
    own.write_text('contract: specification\nversion: "1.1"\nextends: specification\n')
    assert digests(settings, repo, tmp_path / "run", {})["contracts"] != first["contracts"]
