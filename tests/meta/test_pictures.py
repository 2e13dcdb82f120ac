"""The pictures that are drawn from the code and from the documentation's tables are current, and the film shows its cast."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def scripts(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(root / "scripts"))
    return root / "scripts"


def _script(scripts: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"agentforge_script_{name}", scripts / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_plots_are_those_of_the_tables(root: Path, scripts: Path) -> None:
    for name, picture in _script(scripts, "plots").drawn().items():
        assert (root / "docs" / "pictures" / name).read_text("utf-8") == picture, f"{name}: run `make plots`"


def test_a_page_without_its_table_is_an_error(scripts: Path) -> None:
    plots = _script(scripts, "plots")
    for read in (plots.live_tasks, plots.recall_rows):
        with pytest.raises(SystemExit, match="no table"):
            read("# A page\n\n| project | outcome |\n| --- | --- |\n| one | right |\n")


def test_a_task_is_drawn_where_its_calls_and_tokens_put_it(scripts: Path) -> None:
    plots = _script(scripts, "plots")
    page = "| outcome | calls | prompt tokens | largest |\n|---|---|---|---|\n| right (*) | 4 | 20,000 | 7,500 |\n| wrong | 8 | 40,000 | 6,000 |\n"
    few, many = tasks = plots.live_tasks(page)
    assert (few, many) == (("right", 4, 20_000, 7_500), ("wrong", 8, 40_000, 6_000))
    dots = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', plots.cost(tasks))[:2]
    (left, low), (right, high) = ((float(x) - 60, 300 - float(y)) for x, y in dots)
    assert right == pytest.approx(2 * left, abs=0.2) and high == pytest.approx(2 * low, abs=0.2)


def test_the_diagram_of_the_architecture_is_that_of_the_imports(root: Path, scripts: Path) -> None:
    overview = _script(scripts, "overview")
    assert overview.TARGET.read_text("utf-8") == overview.overview(overview.GROUPS), "run `make architecture`"


def test_a_package_that_stands_in_no_group_is_an_error(scripts: Path) -> None:
    overview = _script(scripts, "overview")
    groups = {name: packages for name, packages in overview.GROUPS.items() if "store" not in packages}
    with pytest.raises(SystemExit, match="store"):
        overview.overview(groups)


def test_the_cast_is_of_a_whole_run_that_names_no_home(root: Path) -> None:
    cast = (root / "docs" / "pictures" / "demo.cast").read_text("utf-8")
    assert "agentforge demo" in cast and "delivered" in cast and "git merge" in cast
    film = (root / "docs" / "pictures" / "demo.svg").read_text("utf-8")
    assert not re.search(r"/(?:root|home)/", cast + film)
    assert "delivered" in film and "@keyframes" in film
