"""Python, as the rest of the program asks for it."""

from __future__ import annotations

from agentforge.languages.language import Language
from agentforge.languages.python.mutants import python_mutants
from agentforge.languages.python.plan import find_python
from agentforge.languages.python.runner import run_python
from agentforge.languages.python.stubs import python_null, python_spoiling, python_variants

LANGUAGE = Language(
    name="python",
    rank=10,
    runners=("pytest", "unittest"),
    grammars=("python",),
    manifests=("pyproject.toml", "setup.py", "setup.cfg"),
    comment="#",
    find=find_python,
    run=run_python,
    stubs=python_variants,
    spoiling=python_spoiling,
    null_implementation=python_null,
    mutants=python_mutants,
)
