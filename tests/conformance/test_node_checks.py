"""tsc, prettier and biome of a project's node_modules: what they find, and that one which cannot work has not passed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agentforge.conformance.engine.catalogue import load_check
from agentforge.conformance.engine.check_engine import CheckReport, run_checks
from agentforge.conformance.engine.fix import fix_findings
from agentforge.conformance.engine.site import Site
from agentforge.workspace.sandbox.box import choose

_CONFIG = {"tsc": "tsconfig.json", "prettier": ".prettierrc", "biome": "biome.json", "eslint": "eslint.config.js"}
_SPAN = {"location": {"path": {"file": "a.ts"}, "span": [12, 15]}, "description": "no debugger"}
_START = {"location": {"path": "a.ts", "start": {"line": 3, "column": 5}}, "message": "use const"}
_SAID = {
    "tsc": "a.ts(2,5): error TS2322: Type 'string' is not assignable.\n  more words\nb.ts(1,1): error TS1: not asked.\n",
    "prettier": "a.ts\n",
    "biome": json.dumps(
        {
            "diagnostics": [
                {"severity": "error", "category": "lint/noDebugger", **_SPAN},
                {"severity": "warning", "category": "lint/useConst", **_START},
                {"severity": "information", "category": "x", **_START},
            ]
        }
    ),
}
_FOUND = {
    "tsc": [("a.ts", 2, 5, "tsc/TS2322", "error")],
    "prettier": [("a.ts", 1, 0, "prettier/unformatted", "error")],
    "biome": [("a.ts", 2, 1, "biome/lint/noDebugger", "error"), ("a.ts", 3, 5, "biome/lint/useConst", "warning")],
}


def _project(folder: Path, tool: str, said: str, code: int) -> Path:
    """A project whose tool prints something and ends with a code."""
    program = folder / "node_modules/.bin" / tool
    program.parent.mkdir(parents=True)
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stdout.write({said!r})\nsys.exit({code})\n", "utf-8")
    program.chmod(0o755)
    (folder / _CONFIG[tool]).write_text("{}", "utf-8")
    (folder / "a.ts").write_text("const a = 1\ndebugger\n  let b = 2\n", "utf-8")
    return folder


def _look(folder: Path, tool: str, path: str = "a.ts") -> CheckReport:
    return run_checks(
        folder, mount_at=folder, sandbox=choose("none"), paths=(path,), checks=[load_check(tool)], interpreter=None
    )


@pytest.mark.parametrize("tool", list(_SAID))
def test_findings_have_their_place_rule_and_level(tmp_path: Path, tool: str) -> None:
    found = _look(_project(tmp_path, tool, _SAID[tool], 2 if tool == "tsc" else 1), tool).findings
    assert sorted((one.path, one.line, one.column, one.rule, one.level) for one in found) == _FOUND[tool]


@pytest.mark.parametrize(
    ("tool", "said", "code"),
    [
        ("tsc", "error TS5023: Unknown compiler option 'x'.\n", 1),
        ("tsc", "error TS18003: No inputs were found in config file.\n", 2),
        ("tsc", "Segmentation fault\n", 139),
        ("tsc", "", 2),
        ("prettier", "[error] a.ts: SyntaxError\n", 2),
        ("prettier", "Invalid configuration\n", 1),
        ("biome", "no report", 1),
        ("biome", '{"diagnostics": []}', 1),
        ("biome", "{}", 0),
    ],
)
def test_a_tool_that_failed_has_not_passed(tmp_path: Path, tool: str, said: str, code: int) -> None:
    report = _look(_project(tmp_path, tool, said, code), tool)
    assert [one.check for one in report.crashed] == [tool] and not report.findings


@pytest.mark.parametrize("tool", list(_CONFIG))
def test_a_configured_tool_that_is_missing_is_told_with_the_command_that_helps(tmp_path: Path, tool: str) -> None:
    _project(tmp_path, tool, "", 0)
    (tmp_path / "node_modules/.bin" / tool).unlink()
    (tmp_path / "package-lock.json").write_text("{}", "utf-8")
    report = _look(tmp_path, tool)
    assert "run: npm ci" in report.crashed[0].reason
    (tmp_path / _CONFIG[tool]).unlink()
    assert not _look(tmp_path, tool).crashed, "who does not configure it is not asked for it"


def test_prettier_repairs_a_file_with_what_it_prints(tmp_path: Path) -> None:
    _project(tmp_path, "prettier", "a.ts", 1)
    findings = _look(tmp_path, "prettier").findings
    program = tmp_path / "node_modules/.bin/prettier"
    text = "import sys\nprint('a.ts' if '--list-different' in sys.argv else 'const a = 1;')\nsys.exit('--list-different' in sys.argv)\n"
    program.write_text(f"#!{sys.executable}\n{text}", "utf-8")
    site = Site(checkout=tmp_path, mount_at=tmp_path, sandbox=choose("none"), paths=("a.ts",))
    assert fix_findings(site, findings, checks=[load_check("prettier")]) == {"a.ts": b"const a = 1;\n"}
