"""What users install: the wheel holds all that the program reads, and the papers beside it say what is in it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def script(name: str):
    """A script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(f"agentforge_script_{name}", ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    return module


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    argv = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True)
    return folder


def test_the_wheel_runs_from_its_own_files(built: Path, tmp_path: Path):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        packed.extractall(tmp_path / "site")
    ours = {name for name in names if name.startswith("agentforge/")}
    tracked = subprocess.run(
        ["git", "ls-files", "src/agentforge"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    wanted = {name.removeprefix("src/") for name in tracked.stdout.split("\n") if name}
    assert wanted <= ours, sorted(wanted - ours)[:5]
    assert "agentforge/py.typed" in ours and not any("__pycache__" in name for name in names)
    assert any(name.endswith("share/man/man1/agentforge.1") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "AGENTFORGE_HOME": str(tmp_path / "home")}
    asked = [sys.executable, "-P", "-c", "import agentforge; print(agentforge.__file__)"]
    place = subprocess.run(asked, env=env, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert place.startswith(str(tmp_path / "site"))
    for arguments in (["--version"], ["contracts", "list"], ["stages"], ["completion", "zsh"]):
        argv = [sys.executable, "-m", "agentforge", *arguments]
        done = subprocess.run(argv, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and done.stdout, done.stderr


def test_the_sdist_holds_what_the_wheel_is_built_from(built: Path):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {
        "pyproject.toml",
        "LICENSE",
        "README.md",
        "uv.lock",
        "docs/agentforge.1",
        "src/agentforge/py.typed",
    } <= names
    assert not any(name.startswith((".git/", ".venv/", "build/")) for name in names)


def test_the_manual_page_is_what_the_help_says():
    page = (ROOT / "docs" / "agentforge.1").read_text("utf-8")
    assert script("man_page").document() == page, "run: make golden"
    assert not re.search(r"^\.(?!TH|SH|SS|TP|PP|nf|fi|B|BR)", page, re.MULTILINE), (
        "a line that roff would take for an order"
    )


def test_every_locked_package_has_a_licence_in_the_list():
    page = (ROOT / "docs" / "licences.md").read_text("utf-8")
    listed = {(row[1].strip(), row[2].strip()) for line in page.splitlines() if len(row := line.split("|")) == 6}
    wanted = {(one.name, one.version) for one in script("locked").locked()}
    assert wanted <= listed, f"run: make licences (missing: {sorted(wanted - listed)[:3]})"
    assert "not said" not in page


def test_the_bill_of_materials_names_each_package_once_and_is_the_same_every_time():
    sbom, known = script("sbom"), script("locked").locked()
    bill = sbom.document()
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    references = [one["bom-ref"] for one in bill["components"]]
    assert len(set(references)) == len(references) == len(known) > 20
    ours = bill["metadata"]["component"]["bom-ref"]
    edges = {row["ref"]: row["dependsOn"] for row in bill["dependencies"]}
    assert set(edges) == {ours, *references} and {to for row in edges.values() for to in row} <= set(references)
    click = next(one for one in bill["components"] if one["name"] == "click")
    assert click["scope"] == "required" and len(click["externalReferences"][0]["hashes"][0]["content"]) == 64
    assert json.dumps(bill) == json.dumps(sbom.document())
