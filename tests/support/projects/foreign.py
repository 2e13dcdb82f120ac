"""The same request for a project in each language: what stands there, what a good model writes."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.toolchains import missing
from tests.support.world import Script, World, analysis, edit, intake, reply, specification, submit, suite, write

_HOME = Path.home()
_RUST_HOME = {
    name: os.environ.get(name) or str(_HOME / folder)
    for name, folder in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"))
    if os.environ.get(name) or (_HOME / folder).is_dir()
}
_GO_CACHE = {
    "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(_HOME / ".cache")
}  # else Go's own library is built anew
REQUEST = "Add slugify(text): it lowers the text and joins its words by hyphens"
_CRITERIA = ["'Hello World' becomes 'hello-world'"]
MODULES = Path(
    os.environ.get("AGENTFORGE_TEST_NODE_MODULES")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentforge-tests"
)
"""Where vitest, jest and mocha are looked for, each in a folder of its own: `scripts/javascript_runners.sh` makes it."""


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """A project without `slugify`, and the way to it.

    Attributes:
        needs: a program that must be on PATH.
        module: a package with a folder in MODULES.
        product, old, new: the file that GREEN changes, a text in it and what it becomes.
        test, code, name: RED's file, its text, and the test's name.
        settings: tables of the project's settings; mutants are few where each costs the start of a slow runner.
        system: files of this machine that it needs.
        owner, signature: of the declared function.
        canary: whether the runner has planted tests.
    """

    files: dict[str, str]
    product: str
    old: str
    new: str
    test: str
    code: str
    name: str
    needs: str
    module: str = ""
    settings: str = ""
    canary: bool = True
    system: tuple[str, ...] = ()
    owner: str = ""
    signature: str = ""
    env: dict[str, str] = field(default_factory=dict)

    @property
    def modules(self) -> Path:
        """The node_modules of its package."""
        return MODULES / self.module / "node_modules"

    @property
    def missing(self) -> str:
        """What this machine lacks for it, in words; empty when nothing."""
        lacking = missing(self.needs)
        if lacking:
            return lacking
        absent = next((one for one in self.system if not Path(one).exists()), "")
        if absent:
            return f"{absent} is not installed"
        if self.module and not self.modules.is_dir():
            return f"{self.module} is not in {MODULES}: run scripts/javascript_runners.sh"
        return ""

    def put(self, world: World) -> None:
        """Make the repository of it."""
        for name in ("textkit.py", "tests"):
            path = world.repo / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name, text in self.files.items():
            (world.repo / name).parent.mkdir(parents=True, exist_ok=True)
            (world.repo / name).write_text(text)
        if self.module:
            (world.repo / ".gitignore").write_text("node_modules\n")
            copy = ["cp", "-al", str(self.modules), str(world.repo / "node_modules")]
            if subprocess.run(copy, capture_output=True).returncode:
                subprocess.run(["cp", "-a", *copy[2:]], check=True)
        if self.settings:
            world.settings(self.settings, trusted=True)
        world.commit_all("the project")

    def script(self, *, code: str = "", new: str = "") -> Script:
        """The replies of a model that does it well; `code` or `new` replaces what it writes."""
        name = "slugify" if self.needs != "go" else "Slugify"
        symbol = {"name": f"{self.owner}.{name}" if self.owner else name, "file": self.product, "change": "new"}
        symbol |= {"signature": self.signature} if self.signature else {}
        names = [{"path": self.product, "purpose": "text functions"}]
        drafted = specification(_CRITERIA, symbol, files_to_modify=[self.product])
        change = submit({"files_modified": [{"path": self.product, "changes_summary": "as asked"}]})
        return {
            "intake": [reply(submit(intake(examples=[])))],
            "analyze": [reply(submit(analysis(impacted_files=[self.product], modules=names, symbols=[])))],
            "spec": [reply(submit(drafted))],
            "red": [
                reply(write(self.test, code or self.code), submit(suite(self.test, (self.name, "REQ-001.1", "target"))))
            ],
            "green": [reply(edit(self.old, new or self.new, path=self.product), change)],
        }


_CJS = "function shout(text) { return text.toUpperCase() + '!'; }\nmodule.exports = { shout };\n"
_CJS_NEW = (
    "function slugify(text) { return text.toLowerCase().split(' ').join('-'); }\nmodule.exports = { shout, slugify };\n"
)
_ESM = "export function shout(text) { return text.toUpperCase() + '!'; }\n"
_ESM_NEW = f"{_ESM}export function slugify(text) {{ return text.toLowerCase().split(' ').join('-'); }}\n"
_NODE = (
    'import assert from "node:assert";\nimport {{ test }} from "node:test";\nimport {{ {0} }} from "../textkit.js";\n'
)
_VITEST = 'import {{ expect, test }} from "vitest";\nimport {{ {0} }} from "../textkit";\n'
_EXPECT = "  expect(slugify('Hello World')).toBe('hello-world');\n"
_GO = 'package textkit\n\nimport "strings"\n\nfunc Shout(text string) string { return strings.ToUpper(text) + "!" }\n'
_GO_NEW = (
    f'{_GO}\nfunc Slugify(text string) string {{ return strings.Join(strings.Fields(strings.ToLower(text)), "-") }}\n'
)
_RUST = 'pub fn shout(text: &str) -> String {\n    text.to_uppercase() + "!"\n}\n'
_RUST_NEW = f"{_RUST}\npub fn slugify(text: &str) -> String {{\n    text.to_lowercase().split(' ').collect::<Vec<_>>().join(\"-\")\n}}\n"
_JAVA = 'package org.example;\n\npublic final class Textkit {\n    public static String shout(String text) {\n        return text.toUpperCase() + "!";\n    }\n}\n'
_JAVA_NEW = (
    _JAVA[:-2]
    + '\n    public static String slugify(String text) {\n        return String.join("-", text.toLowerCase().split(" "));\n    }\n}\n'
)
_JAVA_TEST = "package org.example;\n\nimport static org.junit.jupiter.api.Assertions.assertEquals;\n\nimport org.junit.jupiter.api.Test;\n\nclass {0}Test {{\n    @Test void holds() {{\n        assertEquals({1});\n    }}\n}}\n"
_UNIT = (
    "import unittest\n\nimport textkit\n\n\nclass TestText(unittest.TestCase):\n    def test_{0}(self):\n        {1}\n"
)
_PYTHON = "def shout(text):\n    return text.upper() + '!'\n"
_WRITER = """
import sys, xml.etree.ElementTree as tree, pathlib
sys.path.insert(0, ".")
suite = tree.Element("testsuite", name="plain")
for path in sorted(pathlib.Path("tests").glob("check_*.py")):
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    for name, check in sorted(space.items()):
        if name.startswith("check"):
            case = tree.SubElement(suite, "testcase", classname=f"tests.{path.stem}", name=name)
            try:
                check()
            except Exception as problem:
                tree.SubElement(case, "failure", message=f"{type(problem).__name__}: {problem}")
tree.ElementTree(suite).write(sys.argv[1])
sys.exit(suite.find(".//failure") is not None)
"""

PROJECTS = {
    "unittest": Foreign(
        needs="python3", product="textkit.py", old=_PYTHON,
        new=f"{_PYTHON}\n\ndef slugify(text):\n    return '-'.join(text.lower().split())\n",
        files={"textkit.py": _PYTHON, "tests/__init__.py": "",
               "tests/test_text.py": _UNIT.format("shout", 'self.assertEqual(textkit.shout("a"), "A!")')},
        test="tests/test_slug.py", name="TestText::test_slug",
        code=_UNIT.format("slug", 'self.assertEqual(textkit.slugify("Hello World"), "hello-world")'),
    ),
    "node": Foreign(
        needs="node", product="textkit.js", old=_ESM, new=_ESM_NEW,
        files={"package.json": '{"type": "module", "scripts": {"test": "node --test"}}', "textkit.js": _ESM,
               "test/shout.test.js": _NODE.format("shout") + "test('shouts', () => assert.equal(shout('a'), 'A!'));\n"},
        test="test/slug.test.js", name="lowers and joins",
        code=_NODE.format("slugify") + "test('lowers and joins', () => assert.equal(slugify('Hello World'), 'hello-world'));\n",
    ),
    "vitest": Foreign(
        needs="node", module="vitest", settings="[verification]\nmutants = 1\n", product="textkit.ts", old=_ESM.replace("(text)", "(text: string)"),
        new=_ESM_NEW.replace("(text)", "(text: string)"),
        files={"package.json": '{"type": "module", "scripts": {"test": "vitest"}}',
               "textkit.ts": _ESM.replace("(text)", "(text: string)"),
               "tests/shout.test.ts": _VITEST.format("shout") + "test('shouts', () => {\n  expect(shout('a')).toBe('A!');\n});\n"},
        test="tests/slug.test.ts", name="slugify > lowers [and] joins",
        code='import { describe } from "vitest";\n' + _VITEST.format("slugify")
        + f"describe('slugify', () => {{\n test('lowers [and] joins', () => {{\n{_EXPECT} }});\n}});\n",
    ),
    "jest": Foreign(
        needs="node", module="jest", settings="[verification]\nmutants = 0\n", product="textkit.js", old=_CJS, new=_CJS.partition("module")[0] + _CJS_NEW,
        files={"package.json": '{"scripts": {"test": "jest"}}', "textkit.js": _CJS,
               "__tests__/shout.js": "const { shout } = require('../textkit');\ntest('shouts', () => { expect(shout('a')).toBe('A!'); });\n"},
        test="__tests__/slug.js", name="lowers and joins",
        code=f"const {{ slugify }} = require('../textkit');\ntest('lowers and joins', () => {{\n{_EXPECT}}});\n",
    ),
    "mocha": Foreign(
        needs="node", module="mocha", settings="[verification]\nmutants = 0\n", product="textkit.js", old=_CJS, new=_CJS.partition("module")[0] + _CJS_NEW,
        files={"package.json": '{"scripts": {"test": "mocha"}}', "textkit.js": _CJS,
               "test/shout.js": "const assert = require('assert');\nconst { shout } = require('../textkit');\n"
               "it('shouts', () => assert.equal(shout('a'), 'A!'));\n"},
        test="test/slug.js", name="slugify > lowers",
        code="const assert = require('assert');\nconst { slugify } = require('../textkit');\n"
        "describe('slugify', () => it('lowers', () => assert.equal(slugify('Hello World'), 'hello-world')));\n",
    ),
    "go": Foreign(
        needs="go", env=_GO_CACHE, settings="[verification]\nmutants = 1\n", product="textkit.go", old=_GO, new=_GO_NEW,
        files={"go.mod": "module example.org/textkit\n\ngo 1.19\n", "textkit.go": _GO,
               "shout_test.go": 'package textkit\n\nimport "testing"\n\nfunc TestShout(t *testing.T) {\n\tif Shout("a") != "A!" {\n\t\tt.Fatal("no")\n\t}\n}\n'},
        test="slug_test.go", name="TestSlugify", signature="func Slugify(text string) string",
        code='package textkit\n\nimport "testing"\n\nfunc TestSlugify(t *testing.T) {\n\tif got := Slugify("Hello World"); got != "hello-world" {\n\t\tt.Fatalf("got %q", got)\n\t}\n}\n',
    ),
    "cargo": Foreign(
        needs="cargo", env=_RUST_HOME, settings="[verification]\nmutants = 1\n", product="src/lib.rs", old=_RUST, new=_RUST_NEW,
        files={"Cargo.toml": '[package]\nname = "textkit"\nversion = "0.1.0"\nedition = "2021"\n', ".gitignore": "target\n",
               "Cargo.lock": '# made by cargo\nversion = 3\n\n[[package]]\nname = "textkit"\nversion = "0.1.0"\n', "src/lib.rs": _RUST,
               "tests/shout.rs": '#[test]\nfn shouts() {\n    assert_eq!(textkit::shout("a"), "A!");\n}\n'},
        test="tests/slug.rs", name="lowers_and_joins", signature="pub fn slugify(text: &str) -> String",
        code='use textkit::slugify;\n\n#[test]\nfn lowers_and_joins() {\n    assert_eq!(slugify("Hello World"), "hello-world");\n}\n',
    ),
    "java": Foreign(
        needs="javac", system=("/usr/share/java/junit-platform-console.jar",), settings="[verification]\nmutants = 1\n", product="src/org/example/Textkit.java",
        old=_JAVA, new=_JAVA_NEW,
        files={"src/org/example/Textkit.java": _JAVA, "test/org/example/ShoutTest.java": _JAVA_TEST.format("Shout", '"A!", Textkit.shout("a")')},
        test="test/org/example/SlugTest.java", name="SlugTest::holds", owner="Textkit", signature="public static String slugify(String text)",
        code=_JAVA_TEST.format("Slug", '"hello-world", Textkit.slugify("Hello World")'),
    ),
    "junit": Foreign(
        needs="python3", product="textkit.py", old=_PYTHON,
        new=f"{_PYTHON}\n\ndef slugify(text):\n    return '-'.join(text.lower().split())\n",
        files={"textkit.py": _PYTHON, "run.py": _WRITER,
               "tests/check_text.py": "import textkit\n\ndef check_shout():\n    assert textkit.shout('a') == 'A!'\n"},
        test="tests/check_slug.py", name="check_slug", settings='[test]\ncommand = "python3 run.py {junit}"\n', canary=False,
        code="import textkit\n\ndef check_slug():\n    assert textkit.slugify('Hello World') == 'hello-world'\n",
    ),
}  # fmt: skip
