"""A small repository, a good script for every kind of request, and the real command line over both."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.support import warm

TEXTKIT = '''"""Small text functions."""


def shout(text: str) -> str:
    """Upper-case the text and add an exclamation mark."""
    return text.upper() + "!"


def initials(text: str) -> str:
    """Give the first letter of every word."""
    return "".join(word[0] for word in text.split()[:2])


def mumble(text: str) -> str:
    """Lower-case the text."""
    return text.lower()
'''
TEST_TEXTKIT = """from textkit import initials, shout


def test_shout():
    assert shout("hi") == "HI!"


def test_initials():
    assert initials("ab cd") == "ac"
"""
SLUGIFY = '''

def slugify(text: str) -> str:
    """Lower the text and join its words by hyphens."""
    return "-".join(text.lower().split())
'''
TEST_SLUGIFY = """def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    assert slugify("Hello World") == "hello-world"


def test_slugify_of_nothing_is_nothing():
    from textkit import slugify

    assert slugify("") == ""
    assert slugify("A") == "a"
"""
REQUEST = "Add slugify(text) to textkit: slugify('Hello World') -> 'hello-world'"
EXIT_LIMIT = 6
_PATIENCE_S = 280.0
_INTERRUPTIBLE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process of some shells ignores it
from agentforge.__main__ import main
sys.exit(main())
"""
_COMMIT = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false", "commit", "-q")
# Suites run bare, in this environment: no search for a python, none of the plugins that lie here, which double every start.
_BARE = f'[test]\npython = {json.dumps(sys.executable)}\n[test.env]\nPYTEST_DISABLE_PLUGIN_AUTOLOAD = "1"\n'
_DATES = {"GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z"}

Reply = dict[str, Any]
Script = dict[str, list[Reply]]


def reply(*calls: tuple[str, Mapping[str, Any]], text: str = "") -> Reply:
    """One reply with tool calls (name, arguments)."""
    return {"text": text, "tool_calls": [{"name": name, "args": dict(args)} for name, args in calls]}


def submit(artifact: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The call that hands in an artifact."""
    return "submit_artifact", {"artifact": dict(artifact)}


def intake(action: str = "create", **changed: Any) -> dict[str, Any]:
    """A good draft of INTAKE."""
    return {
        "goal": "slugify(text) turns text into a lower-case hyphenated slug",
        "extracted_intent": {"action": action, "target": "textkit", "scope": "module"},
        "examples": ["slugify('Hello World') -> 'hello-world'"],
        "initial_complexity": "trivial",
        "identified_ambiguities": [],
        **changed,
    }


def analysis(**changed: Any) -> dict[str, Any]:
    """A good draft of ANALYZE."""
    return {
        "summary": "textkit holds small text functions",
        "impacted_files": ["textkit.py"],
        "modules": [{"path": "textkit.py", "purpose": "text functions"}],
        "symbols": [{"name": "shout", "file": "textkit.py", "line": 4, "role": "neighbour"}],
        "conventions": ["type hints and docstrings"],
        "risks": [],
        "constraints": [],
        **changed,
    }


def specification(criteria: Sequence[str], *symbols: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
    """A good draft of SPEC with one requirement."""
    return {
        "title": "Add slugify",
        "description": "what was asked",
        "requirements": [
            {
                "id": "REQ-001",
                "description": "it does what was asked",
                "priority": "must",
                "acceptance_criteria": list(criteria),
                "verification_method": "test",
            }
        ],
        "symbols": [{"file": "textkit.py", "kind": "function", **symbol} for symbol in symbols],
        "files_to_modify": ["textkit.py"],
        "files_to_create": [],
        "trace_to_request": "all of it",
        **changed,
    }


def suite(path: str, *tests: tuple[str, str, str]) -> dict[str, Any]:
    """A draft of RED: tests are (name, criterion, kind)."""
    rows = [
        {"name": name, "requirement_ref": "REQ-001", "acceptance_criterion": criterion, "kind": kind}
        for name, criterion, kind in tests
    ]
    return {"test_files": [{"path": path, "tests": rows}]}


def edit(old: str, new: str, *, path: str = "textkit.py") -> tuple[str, dict[str, Any]]:
    """The call that replaces a text."""
    return "edit", {"path": path, "old_string": old, "new_string": new}


def write(path: str, content: str) -> tuple[str, dict[str, Any]]:
    """The call that writes a file."""
    return "write_file", {"path": path, "content": content}


IMPLEMENTED = submit({"files_modified": [{"path": "textkit.py", "changes_summary": "as asked"}]})
ADD_SLUGIFY = edit("    return text.lower()\n", f"    return text.lower()\n{SLUGIFY}")
SLUGIFY_SUITE = suite(
    "tests/test_slugify.py",
    ("test_slugify_lowers_and_hyphenates", "REQ-001.1", "target"),
    ("test_slugify_of_nothing_is_nothing", "REQ-001.2", "target"),
)


def good_script(**replaced: list[Reply]) -> Script:
    """Replies that deliver `slugify` at once; a stage given by name replaces that stage's replies."""
    slugify = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}
    criteria = ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]
    script: Script = {
        "intake": [reply(submit(intake()))],
        "analyze": [reply(submit(analysis()))],
        "spec": [reply(submit(specification(criteria, slugify)))],
        "red": [reply(write("tests/test_slugify.py", TEST_SLUGIFY), submit(SLUGIFY_SUITE))],
        "green": [reply(ADD_SLUGIFY, IMPLEMENTED)],
    }
    return {**script, **replaced}


@dataclass(frozen=True, kw_only=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True, kw_only=True)
class World:
    """A repository and a private home; commands run in both.

    Attributes:
        results: where results of test runs are kept between tests of the same repository path, None = in the home.
        environ: variables on top of the minimal ones.
        fresh: whether every command starts an interpreter, as a user's does; else it comes from a process that has imported the
            program before (see `warm`).
    """

    repo: Path
    home: Path
    pycache: Path
    results: Path | None = None
    environ: dict[str, str] = field(default_factory=dict)
    fresh: bool = False

    @property
    def env(self) -> dict[str, str]:
        """The whole environment of a command: neither the user's keys nor the user's settings."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return {
            "PATH": path,
            "HOME": str(self.home),
            "AGENTFORGE_HOME": str(self.home / "af"),
            "PYTHONPYCACHEPREFIX": str(self.pycache),
            "LANG": "C.UTF-8",
            "USER": "ann",
            "GIT_CONFIG_NOSYSTEM": "1",
            **self.environ,
        }

    def start(
        self,
        script: Script | None = None,
        *arguments: str,
        request: str = REQUEST,
        env: Mapping[str, str] | None = None,
    ) -> Done:
        """`agentforge start REQUEST` with a scripted model, JSON on stdout."""
        return self.run("start", request, "--model", self.model(script), "--json", *arguments, env=env)

    def model(self, script: Script | None = None, *, repeat: bool = False) -> str:
        """Write a script and name the model that reads it."""
        path = self.home / "script.yaml"
        value: dict[str, Any] = dict(good_script() if script is None else script)
        if repeat:
            value["repeat_last"] = True
        path.write_text(yaml.safe_dump(value, allow_unicode=True), "utf-8")
        return f"scripted/{path}"

    def run(
        self, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, stdin: bytes = b""
    ) -> Done:
        """Run one command line to its end."""
        folder, environ = cwd or self.repo, {**self.env, **(env or {})}
        if not self.fresh:
            done = warm.run(arguments, cwd=folder, env=environ, stdin=stdin, timeout_s=_PATIENCE_S)
        else:
            command = [sys.executable, "-m", "agentforge", *arguments]
            done = subprocess.run(
                command, cwd=folder, env=environ, input=stdin, capture_output=True, timeout=_PATIENCE_S
            )
        return Done(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    def begin(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start one command line; its stream of events can be read from stdout."""
        return subprocess.Popen(
            [sys.executable, "-c", _INTERRUPTIBLE, *arguments],
            cwd=self.repo,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run git in the repository."""
        done = subprocess.run(
            ["git", *arguments], cwd=cwd or self.repo, env={**self.env, **_DATES}, check=True, capture_output=True
        )
        return done.stdout.decode().strip()

    def commit_all(self, message: str) -> str:
        """Commit everything; returns the commit."""
        self.git("add", "-A")
        self.git(*_COMMIT, "-m", message)
        return self.git("rev-parse", "HEAD")

    def settings(self, text: str, *, trusted: bool = False) -> None:
        """Write the project's settings; `trusted` agrees to what of them protects less."""
        folder = self.repo / ".agentforge"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(text)
        if trusted:
            assert self.run("trust", "--yes").code == 0

    def died_after(self, records: int, *, folder: Path | None = None) -> None:
        """Take the task of a folder, else the only one, back to its first records, as a process leaves it that dies there."""
        folder = folder or self.folder
        log = folder / "events.jsonl"
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:records]))
        for name in ("views.json", "lease"):  # whoever dies does not let go of the run
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.home / "af" / "data" / "heads", ignore_errors=True)
        for ref in self.git("for-each-ref", "--format=%(refname)", "refs/notes").split():
            self.git("update-ref", "-d", ref)

    @property
    def folder(self) -> Path:
        """The folder of the only task; what a process keeps beside it for a moment is none."""
        tasks = (self.repo / ".agentforge" / "tasks").iterdir()
        (found,) = (one for one in tasks if (one / "events.jsonl").is_file())
        return found

    @property
    def task(self) -> str:
        """The id of the only task."""
        return self.folder.name

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """The records of the only task, as they stand in its log; all, or those of some types."""
        lines = (self.folder / "events.jsonl").read_text("utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        return [record for record in records if not kinds or record["type"] in kinds]

    def view(self, path: str) -> Any:
        """A YAML view of the only task."""
        return yaml.safe_load((self.folder / path).read_text("utf-8"))


def make_world(
    repo: Path,
    home: Path,
    *,
    pycache: Path,
    results: Path | None = None,
    git: bool = True,
    plugins: bool = False,
    fresh: bool = False,
) -> World:
    """Put the small repository at `repo` (whatever stood there goes) and make a home.

    Args:
        plugins: whether the project's python is looked for, its pytest loads the plugins that it finds, and every command
            starts an interpreter, as at a user's; each of them doubles what a run costs.
        fresh: whether every command starts an interpreter all the same.
    """
    shutil.rmtree(repo, ignore_errors=True)
    (repo / "tests").mkdir(parents=True)
    home.mkdir(parents=True, exist_ok=True)
    (repo / "textkit.py").write_text(TEXTKIT)
    (repo / "tests" / "test_textkit.py").write_text(TEST_TEXTKIT)
    world = World(repo=repo, home=home, pycache=pycache, results=results, fresh=fresh or plugins)
    if not plugins:
        own_settings(home, "")
    if git:
        world.git("init", "-q", "-b", "main")
        world.commit_all("base")
    if git and results is not None:
        share_results(world, results)
    return world


def own_settings(home: Path, text: str) -> None:
    """Write the user's own settings; what stands in every world stays."""
    bare_settings(home / "af", text)


def bare_settings(place: Path, text: str, **variables: str) -> None:
    """Write the settings of a user whose AGENTFORGE_HOME is `place`: every suite runs bare, and what `text` says.

    Args:
        variables: which suites get besides.
    """
    folder = place / "config"
    folder.mkdir(parents=True, exist_ok=True)
    more = "".join(f"{name} = {json.dumps(value)}\n" for name, value in variables.items())
    (folder / "config.toml").write_text(f"{text}{_BARE}{more}")


def share_results(world: World, results: Path) -> None:
    """Let the results of test runs outlive this home: same path, same trees, same results."""
    from agentforge.workspace.git.repository import Git
    from agentforge.workspace.git.worktree import worktree_of

    results.mkdir(parents=True, exist_ok=True)
    place = worktree_of(Git(world.repo), data_dir=world.home / "af" / "data", task_id="t").path.parent
    place.mkdir(parents=True)
    (place / "results").symlink_to(results)


def children_below(folder: Path) -> list[str]:
    """Command lines of living processes that work below a folder or name it: nothing may be left behind."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            place = str((entry / "cwd").readlink())
        except OSError:
            continue
        if str(folder) in line or place.startswith(str(folder)):
            found.append(line)
    return found
