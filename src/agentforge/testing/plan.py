"""How the tests of a repository are run: the plan, and finding it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from agentforge.canonical import Digest, digest_value

Runner = str
"""A runner of one of the languages (`languages/NAME/language.py`), "junit" or "none"."""

DEFAULT_TIMEOUT_S = 900.0
EVIDENCE_VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPlan:
    """How the suite of one repository is run.

    Attributes:
        runner: "junit" is any command that writes JUnit XML; "none" means that no tests can be run.
        command: what a person would type; for "junit" it is what is run, `{junit}` in it is the report's path.
        interpreter: absolute path of the project's python; empty for other languages.
        project_python: the project's own python where another one runs its tests; "" = `interpreter`.
        roots: folders, relative to the repository, that stand first on `sys.path`.
        pythonpath: the user's own absolute PYTHONPATH entries.
        test_paths: where the tests lie, relative to the repository; () leaves it to the runner.
        junit: report path relative to the repository for a command without `{junit}`.
        environments: folders of the repository that a fresh checkout borrows read-only (.venv, node_modules, built files).
        delivered: (folder, absolute path): what other tasks delivered, and where the tests see it, read-only.
        user_site: the user's site directory when the interpreter uses one.
        language: what the tests are written in: the name of a language (`languages/NAME`), or other.
        prepare: commands of a shell that make what the tests need (a build), run before every run of the suite.
        source: how this was found, in words.
        left_out: what the project's own command does besides and what does not run here, each with the reason.
        problems: what keeps the tests from running, with the command that helps.
    """

    __test__ = False  # no test class, whatever pytest thinks of the name

    runner: Runner
    command: tuple[str, ...] = ()
    interpreter: str = ""
    roots: tuple[str, ...] = (".",)
    pythonpath: tuple[str, ...] = ()
    test_paths: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = DEFAULT_TIMEOUT_S
    junit: str = ""
    environments: tuple[str, ...] = ()
    delivered: tuple[tuple[str, str], ...] = ()
    user_site: str = ""
    project_python: str = ""
    language: str = "python"
    prepare: tuple[str, ...] = ()
    source: str = ""
    left_out: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def tools_python(self) -> str:
        """The python that has the project's own linters and type checkers; "" when the project is in another language."""
        return self.project_python or self.interpreter

    @property
    def has_canary(self) -> bool:
        """Whether this runner can plant tests that must fail."""
        return self.runner not in ("junit", "none")

    @property
    def has_second_channel(self) -> bool:
        """Whether this runner tells its results twice."""
        return self.runner == "pytest"

    @property
    def shown_command(self) -> str:
        """The command as a person would type it."""
        return shlex.join(self.command)


def plan_digest(plan: TestPlan) -> Digest:
    """Name a plan by everything in it that can change a result."""
    value = {name: part for name, part in asdict(plan).items() if name not in ("source", "problems", "left_out")}
    value["env"] = dict(plan.env)
    value["evidence"] = EVIDENCE_VERSION
    return digest_value(value)
