"""What changes nothing that runs, and what only looks like it: files before and after, by hand and with their verdicts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from agentforge.verification.inert.classification import Inertness, inertness
from agentforge.workspace.git.diff import Change

_CODE = '''"""Small things."""


def shout(text, marks=1):
    """Upper-case the text."""
    return text.upper() + "!" * marks
'''


def measured(before: Mapping[str, str], after: Mapping[str, str]) -> Inertness:
    """Compare two trees that are given as path -> text."""
    paths = sorted({*before, *after})
    status = {path: "added" if path not in before else "modified" if path in after else "deleted" for path in paths}
    changes = [
        Change(path=path, status=status[path], added=1, removed=1)  # type: ignore[arg-type] # one of the statuses
        for path in paths
        if before.get(path) != after.get(path)
    ]
    return inertness(
        changes,
        before=lambda path: before[path].encode() if path in before else None,
        after=lambda path: after[path].encode() if path in after else None,
        files=list(after),
        mentions=lambda word: [path for path, text in after.items() if word in text],
    )


def verdict(path: str, old: str, new: str, **others: str) -> str:
    """The kind of a change of one file, or why it is none; `others` are files of both trees, `__` for `/`, `_py` for `.py`."""
    beside = {name.replace("__", "/").replace("_py", ".py"): text for name, text in others.items()}
    found = measured({**beside, path: old} if old else beside, {**beside, path: new} if new else beside)
    return "; ".join(one.text for one in found.differences) or found.words


INERT = [
    ("README.md", "# Kit\n", "# Kit\n\nShout.\n", "documentation only"),
    ("docs/usage.rst", "", "Usage\n=====\n", "documentation only"),
    ("docs/picture.png", "a", "b", "documentation only"),
    ("CHANGELOG", "1\n", "2\n1\n", "documentation only"),
    ("kit.py", _CODE, _CODE.replace("Upper-case the text.", "Shout."), "documentation only"),
    ("kit.py", _CODE, _CODE.replace('    """Upper', '    # loud\n    """Upper'), "documentation only"),
    ("kit.py", "def f():\n    return 1\n", 'def f():\n    """Give one."""\n    return 1\n', "documentation only"),
    ("kit.py", "def f(): ...\n", 'def f():\n    """Do nothing."""\n', "documentation only"),
    ("kit.py", _CODE, _CODE.replace("(text, marks=1)", "(text: str, marks: int = 1) -> str"), "types only"),
    ("kit.py", "x = 1\n", "x: int = 1\n", "types only"),
    ("kit.py", "class A:\n    x = 1\n", "class A:\n    x: int = 1\n    y: str\n", "types only"),
    (
        "kit.py",
        _CODE,
        "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from other import Mark\n\n"
        + _CODE.partition("\n\n\n")[2].replace("marks=1", "marks: Mark = 1"),
        "types only",
    ),
    ("kit.py", "import typing as t\nf = len\n", "import typing as t\nf: t.Callable = len\n", "types only"),
    (
        "kit.py",
        "def f(x):\n    return x\n",
        "from typing import overload\n\n\n@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\ndef f(x):\n    return x\n",
        "types only",
    ),
    (
        "kit.py",
        "def f(x):\n    return x\n",
        'from typing import TypeVar\n\nT = TypeVar("T")\n\n\ndef f(x: T) -> T:\n    return x\n',
        "types only",
    ),
    (
        "kit.py",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1\n",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int | None = 1\n",
        "types only",
    ),
    ("kit/py.typed", "", "\n", "types only"),
    ("kit.pyi", "x: int\n", "x: str\n", "types only"),
    ("index.d.ts", "export const a: number;\n", "export const a: string;\n", "types only"),
    ("mkdocs.yml", "a: 1\n", "a: 2\n", "configuration only"),
    (
        "pyproject.toml",
        '[project]\nname = "kit"\ndescription = "a"\n',
        '[project]\nname = "kit"\ndescription = "b"\n[tool.ruff]\nline-length = 99\n',
        "configuration only",
    ),
    ("a.js", "export const f = (a) => a;\n", "// gives a\nexport const f = (a) => a; /* so */\n", "documentation only"),
    ("a.ts", "export function f(a) { return a; }\n", "export function f(a: number): number { return a; }\n", "types only"),
    ("a.ts", "const a = 1;\n", "interface B { a: number }\nexport type C = B;\nconst a: number = 1;\n", "types only"),
    ("a.go", "package a\n\nfunc F() int { return 1 }\n", "package a\n\n// F gives one.\nfunc F() int { return 1 }\n", "documentation only"),
    ("a.js", "f(;\nlet a = 1;\n", "f(;\n\n// one\nlet a = 1;\n", "documentation only"),
    ("a.rs", "pub fn f() -> u8 { 1 }\n", "/// Give one.\npub fn f() -> u8 { 1 }\n", "documentation only"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "old", "new", "kind"), INERT)
def test_what_nobody_can_notice_at_run_time_is_inert(path: str, old: str, new: str, kind: str) -> None:
    assert verdict(path, old, new) == kind


TRICKS = [
    ("kit.py", _CODE, _CODE.replace("upper", "lower"), "kit.py:6 runs otherwise"),
    ("kit.py", _CODE, _CODE.replace("marks=1", "marks: int = 2"), "kit.py:4 runs otherwise"),
    ("kit.py", "def f(x):\n    return x\n", "def f(x, y=None):\n    return x\n", "kit.py:1 runs otherwise"),
    ("kit.py", '"""A."""\nprint(__doc__)\n', '"""B."""\nprint(__doc__)\n', "kit.py:1 runs otherwise"),
    ("kit.py", 'def f():\n    "a"\n\nh = f.__doc__\n', 'def f():\n    "b"\n\nh = f.__doc__\n', "kit.py:4 reads docstrings"),
    (
        "kit.py",
        'import click\n@click.command()\ndef f():\n    "a"\n',
        'import click\n@click.command()\ndef f():\n    "b"\n',
        "kit.py:4 runs otherwise",
    ),
    (
        "kit.py",
        "from flask import Flask\napp = Flask('a')\n@app.route('/')\ndef f(a):\n    return a\n",
        "from flask import Flask\napp = Flask('a')\n@app.route('/')\ndef f(a: int):\n    return a\n",
        "kit.py:4 runs otherwise",
    ),
    (
        "kit.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\nelse:\n    a = 1\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\nelse:\n    a = 2\n",
        "kit.py:5 runs otherwise",
    ),
    (
        "kit.py",
        "TYPE_CHECKING = True\nif TYPE_CHECKING:\n    a = 1\n",
        "TYPE_CHECKING = True\nif TYPE_CHECKING:\n    a = 2\n",
        "kit.py:3 runs otherwise",
    ),
    ("kit.py", "import os\nx = 1\n", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import os\nx = 1\n", "runs otherwise"),
    ("kit.py", "x = 1\n", "x = 1  # noqa: E741\n", "kit.py:1 has a comment that tools read: # noqa"),
    ("kit.py", "x = f()\n", "x = f()  # type: ignore\n", "has a comment that tools read"),
    ("kit.py", "x = 1  # pragma: no cover\n", "x = 1\n", "has a comment that tools read"),
    ("kit.py", "x = 1\n", "#!/usr/bin/python3\nx = 1\n", "has a comment that tools read"),
    ("kit.py", "x = 1\n", "# -*- coding: latin-1 -*-\nx = 1\n", "has a comment that tools read"),
    (
        "kit.py",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x = 1\n",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1\n",
        "kit.py:4 runs otherwise",
    ),
    (
        "kit.py",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1\n",
        "from dataclasses import dataclass\nfrom typing import ClassVar\n@dataclass\nclass A:\n    x: ClassVar[int] = 1\n",
        "runs otherwise",
    ),
    (
        "kit.py",
        "from pydantic import BaseModel\nclass A(BaseModel):\n    x: int\n",
        "from pydantic import BaseModel\nclass A(BaseModel):\n    x: str\n",
        "kit.py:3 runs otherwise",
    ),
    (
        "kit.py",
        "from functools import singledispatch\n@singledispatch\ndef f(a): ...\n@f.register\ndef g(a: int): return 1\n",
        "from functools import singledispatch\n@singledispatch\ndef f(a): ...\n@f.register\ndef g(a: str): return 1\n",
        "kit.py:5 runs otherwise",
    ),
    (
        "kit.py",
        "from typing import get_type_hints\ndef f(a): ...\nh = get_type_hints(f)\n",
        "from typing import get_type_hints\ndef f(a: int): ...\nh = get_type_hints(f)\n",
        "kit.py:3 reads annotations",
    ),
    ("kit.py", "def f(a): ...\n", "def f(a: Mark): ...\n", "kit.py:1 evaluates the annotation Mark"),
    ("kit.py", "class A:\n    def f(self): ...\n", "class A:\n    def f(self) -> A: ...\n", "evaluates the annotation A"),
    ("kit.py", "x = 1\ndef f():\n    return x\n", "x = 1\ndef f():\n    x: int\n    return x\n", "kit.py:3 runs otherwise"),
    ("kit.py", "x = 1\n", "x = 1\nassert x\n", "kit.py:2 runs otherwise"),
    ("kit.py", "x = 1\n", "", "kit.py is gone"),
    ("random.py", "", '"""Nothing."""\n', "random.py is new and changes what an import finds"),
    ("kit/prompts/ask.md", "Ask.\n", "Tell.\n", "kit/prompts/ask.md lies among the code of kit/"),
    ("requirements.txt", "a==1\n", "a==2\n", "neither a document nor code"),
    (
        "pyproject.toml",
        '[tool.pytest.ini_options]\naddopts = ""\n',
        '[tool.pytest.ini_options]\naddopts = "-x"\n',
        "says something else in tool.pytest",
    ),
    ("a.js", "export const f = (a) => a;\n", "export const f = (a) => -a;\n", "a.js:1 runs otherwise"),
    ("a.js", "f(;\nlet a = 1;\n", "f(;\nlet a = 2;\n", "runs otherwise"),
    ("a.js", "f(a);\n", "// eslint-disable-next-line\nf(a);\n", "has a comment that tools read"),
    ("a.js", "const a = 'x // y';\n", "const a = 'x // z';\n", "a.js:1 runs otherwise"),
    ("a.js", "function f() { return 1 }\n", "function f() { return\n 1 }\n", "runs otherwise"),
    ("a.ts", "let a: number = 1;\n", "let a: number = 2;\n", "a.ts:1 runs otherwise"),
    ("a.go", "package a\n", "//go:build linux\n\npackage a\n", "has a comment that tools read"),
    (
        "a.rs",
        "#[derive(Parser)]\nstruct A {\n    /// Name.\n    n: u8,\n}\n",
        "#[derive(Parser)]\nstruct A {\n    /// The name.\n    n: u8,\n}\n",
        "has a comment that tools read",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("path", "old", "new", "told"), TRICKS)
def test_what_runs_otherwise_is_named_with_its_place(path: str, old: str, new: str, told: str) -> None:
    others = {"kit/core.py": "x = 1\n"} if path.startswith("kit/") else {}
    found = measured({**others, path: old} if old else others, {**others, path: new} if new else others)
    assert told in "; ".join(one.text for one in found.differences)


def test_a_document_that_the_code_opens_beside_itself_is_part_of_what_runs() -> None:
    code = "from pathlib import Path\nHELP = (Path(__file__).parent / 'HELP.md').read_text()\n"
    assert verdict("HELP.md", "a\n", "b\n", kit_py=code) == "HELP.md is read by kit.py"
    assert verdict("HELP.md", "a\n", "b\n", kit_py="x = 'see HELP.md'\n") == "documentation only"
    assert verdict("HELP.md", "a\n", "b\n", setup_py=code) == "documentation only"


def test_copying_a_docstring_is_no_reading_and_reading_those_of_others_is() -> None:
    old, new = 'def f():\n    """A."""\n', 'def f():\n    """B."""\n'
    assert verdict("kit.py", old, new, wrap_py="def w(f, g):\n    g.__doc__ = f.__doc__\n") == "documentation only"
    assert "wrap.py:2 reads docstrings" in verdict("kit.py", old, new, wrap_py="def w(f):\n    return f.__doc__\n")


def test_a_type_that_another_file_imports_may_not_go() -> None:
    old, new = "from typing import Any\n\nJson = dict[str, Any]\n", "x: int\n"
    assert verdict("kit.py", old, new) == "types only"
    told = verdict("kit.py", old, new, user_py="from kit import Json\n")
    assert told == "kit.py no longer has Json, which user.py imports"


def test_one_file_that_runs_otherwise_is_told_beside_the_kinds_of_the_others() -> None:
    found = measured({"README.md": "a", "kit.py": _CODE}, {"README.md": "b", "kit.py": _CODE.replace("!", "?")})
    assert (found.words, [one.path for one in found.differences]) == ("documentation only", ["kit.py"])
