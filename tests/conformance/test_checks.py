"""Checks of other languages and of whole projects, and the repairs that checks offer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agentforge.conformance.engine.catalogue import chosen_checks, load_check
from agentforge.conformance.engine.check_engine import CheckReport, run_checks
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.fix import Edit, applied, fix_findings, offset_of
from agentforge.conformance.engine.sarif import from_sarif, imported, to_sarif, unfinished
from agentforge.conformance.engine.site import Site, has_module
from agentforge.errors import ConfigError
from agentforge.workspace.sandbox.box import choose


def tree(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    return folder


def look(folder: Path, name: str, *paths: str, kind: str = "none", interpreter: str | None = None) -> CheckReport:
    return run_checks(
        folder,
        mount_at=folder,
        sandbox=choose(kind),  # type: ignore[arg-type]
        paths=paths,
        checks=[load_check(name)],
        interpreter=interpreter,
    )


def fixed(folder: Path, name: str, *paths: str, only: str = "") -> dict[str, str]:
    """What the check makes of its own findings; `only` picks those of one rule."""
    findings = [one for one in look(folder, name, *paths).findings if only in ("", one.rule_id)]
    site = Site(checkout=folder, mount_at=folder, sandbox=choose("none"), paths=paths)
    changed = fix_findings(site, findings, checks=[load_check(name)])
    return {path: data.decode() for path, data in changed.items()}


CONFIG = '[tool.ruff.lint]\nselect = ["F", "I", "UP"]\n'


def test_ruff_repairs_exactly_the_findings_that_are_meant(tmp_path: Path) -> None:
    source = "import os\nimport sys\n\nx: 'int' = 1  # größe\nprint('{}'.format(x))\n"
    tree(tmp_path, {"pyproject.toml": CONFIG, "a.py": source, "b.py": source})
    findings = [one for one in look(tmp_path, "ruff", "a.py", "b.py").findings if (one.path, one.line) == ("a.py", 1)]
    site = Site(checkout=tmp_path, mount_at=tmp_path, sandbox=choose("none"), paths=("a.py", "b.py"))
    changed = fix_findings(site, [one for one in findings if one.rule_id == "F401"], checks=[load_check("ruff")])
    assert {path: data.decode() for path, data in changed.items()} == {"a.py": source.removeprefix("import os\n")}


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
def test_line_ends_and_other_letters_stay_as_they_are(tmp_path: Path, end: str) -> None:
    lines = ["s = '😀 größe'; import os", "import sys", "x = 1", ""]
    without = ["s = '😀 größe'; ", "x = 1", ""]
    tree(tmp_path, {"pyproject.toml": CONFIG, "a.py": end.join(lines)})
    assert fixed(tmp_path, "ruff", "a.py", only="F401") == {"a.py": end.join(without)}


def test_a_file_that_was_formatted_is_formatted_afterwards_and_another_is_left_alone(tmp_path: Path) -> None:
    tidy = "from os import (\n    path,\n    sep,\n)\n\nprint(path)\n"
    untidy = tidy.replace("print(path)", "print( path )")
    tree(tmp_path, {"pyproject.toml": CONFIG, "tidy.py": tidy, "untidy.py": untidy})
    done = fixed(tmp_path, "ruff", "tidy.py", "untidy.py", only="F401")
    assert done["tidy.py"] == "from os import (\n    path,\n)\n\nprint(path)\n"
    assert "print( path )" in done["untidy.py"]


def test_formatting_is_judged_only_where_the_project_asks_for_it(tmp_path: Path) -> None:
    tree(tmp_path, {"pyproject.toml": "[tool.ruff.format]\n", "a.py": "x = [1,2]\n", "b.py": "def f(:\n"})
    assert [(one.path, one.rule) for one in look(tmp_path, "format", "a.py", "b.py").findings] == [
        ("a.py", "format/unformatted")
    ]
    assert fixed(tmp_path, "format", "a.py") == {"a.py": "x = [1, 2]\n"}
    tree(tmp_path, {"pyproject.toml": "[tool.ruff]\n"})
    assert look(tmp_path, "format", "a.py").skipped[0].check == "format"


ESLINT = """#!{python}
import json, sys
text = open("a.js", encoding="utf-8").read()
start = len(text[: text.index("let")].encode("utf-16-le")) // 2 if "let" in text else 0
fix = {{"range": [start, start + 3], "text": "const"}}
row = {{"ruleId": "prefer-const", "severity": 2, "message": "m", "line": 1, "column": 1, "fix": fix}}
messages = [row] if "let" in text else []
print(json.dumps([{{"filePath": "{folder}/a.js", "messages": messages}}]))
sys.exit(bool(messages))
"""


def test_eslint_repairs_count_in_the_units_of_javascript(tmp_path: Path) -> None:
    program = tmp_path / "node_modules/.bin/eslint"
    source = "const s = '😀'; let b = s;\n"
    tree(tmp_path, {"eslint.config.js": "", "a.js": source, "node_modules/.bin/eslint": ""})
    program.write_text(ESLINT.format(python=sys.executable, folder=tmp_path), "utf-8")
    program.chmod(0o755)
    assert look(tmp_path, "eslint", "a.js").findings[0].fixable
    assert fixed(tmp_path, "eslint", "a.js") == {"a.js": source.replace("let", "const")}


LAYERS = """
[importlinter]
root_package = shop

[importlinter:contract:1]
name = Money knows no cart
type = forbidden
source_modules = shop.money
forbidden_modules = shop.cart
"""


def test_an_import_that_breaks_the_floors_is_a_finding_at_its_line(tmp_path: Path) -> None:
    files = {
        ".importlinter": LAYERS,
        "shop/__init__.py": "",
        "shop/cart.py": "",
        "shop/money.py": "'''Money.'''\n\nfrom shop import cart\n",
    }
    report = look(tree(tmp_path, files), "imports", "shop/money.py", kind="auto", interpreter=sys.executable)
    assert [(one.path, one.line, one.rule) for one in report.findings] == [
        ("shop/money.py", 3, "imports/money-knows-no-cart")
    ]
    assert report.findings[0].message == "Money knows no cart: shop.money must not import shop.cart"
    broken = tree(tmp_path, {".importlinter": LAYERS.replace("shop.cart", "shop.nothing")})
    assert look(broken, "imports", "shop/money.py", kind="auto", interpreter=sys.executable).crashed


def test_overlapping_edits_are_not_made_together() -> None:
    first, second = [Edit(start=0, end=4, text="")], [Edit(start=2, end=6, text="x")]
    assert applied("abcdefgh", [first, second]) == "efgh"
    assert applied("abcdefgh", [first, first]) == "efgh"
    assert applied("ab\ncd\n", [[Edit(start=offset_of("ab\ncd\n", row=2, column=2), end=5, text="!")]]) == "ab\nc!\n"
    assert offset_of("ab\n", row=9, column=1) == 3


def test_sarif_tells_crashes_and_what_is_suppressed() -> None:
    finding = Finding(check="ruff", rule_id="F401", level="error", message="m", path="a.py", line=1, fingerprint="f")
    log = json.loads(json.dumps(to_sarif([finding], ran=["ruff", "ty"], crashed={"mypy": "boom"}, known={"f"})))
    assert [run["tool"]["driver"]["name"] for run in log["runs"]] == ["ruff", "ty", "mypy"]
    assert log["runs"][0]["results"][0]["suppressions"][0]["justification"] == "stands in the base line"
    assert unfinished(log) == "boom"
    assert [one.check for one in imported(log, roots=())] == ["ruff"]
    assert from_sarif(log, check="x", roots=())[0].exempt, "what its tool suppressed does not count here either"
    with pytest.raises(ValueError, match="no runs"):
        imported({"version": "2.1.0"}, roots=())


def test_two_checks_of_one_name_are_an_error(tmp_path: Path) -> None:
    own = "from agentforge.conformance.engine.site import Check\nCHECK = Check(name='ruff', skip=lambda s: '', run=lambda s: [])\n"
    tree(tmp_path, {".agentforge/checks/ruff.py": own})
    with pytest.raises(ConfigError):
        chosen_checks(project=tmp_path)
    assert "ruff" in {check.name for check in chosen_checks()}
    assert "ruff" not in {check.name for check in chosen_checks(disabled=["ruff"])}


class Counting:
    """No sandbox, and how often something was run in it."""

    kind, network = "none", "on"

    def __init__(self) -> None:
        self.runs = 0

    def run(self, argv, **options):
        self.runs += 1
        return choose("none").run(argv, **options)


@pytest.mark.parametrize(("closed", "runs"), [("false", 2), ("true", 4)])
def test_a_python_is_asked_again_for_a_module_only_when_its_packages_changed(
    tmp_path: Path, closed: str, runs: int
) -> None:
    packages = tmp_path / "env" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    packages.mkdir(parents=True)
    home = Path(sys.executable).resolve().parent
    (tmp_path / "env" / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = {closed}\n")
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(Path(sys.executable).resolve())
    sandbox = Counting()
    site = Site(checkout=tmp_path, mount_at=tmp_path, sandbox=sandbox, paths=(), interpreter=str(python))
    assert not has_module(site, "brandnew_checker") and not has_module(site, "brandnew_checker")
    (packages / "brandnew_checker.py").write_text("")
    assert has_module(site, "brandnew_checker") and has_module(site, "brandnew_checker")
    assert sandbox.runs == runs
