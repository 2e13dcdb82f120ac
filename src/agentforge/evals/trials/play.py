"""One task in a process of its own: a new repository, `start`, the hidden tests on what was delivered, and the row of it.

`python -m agentforge.evals.trials.play` reads the order as JSON from standard input, so that nothing of the hidden tests lies
where the run could read it, and leaves `row.json` in the folder that the order names.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agentforge.app.composition.run_result import RunResult, outcome_of, result_value
from agentforge.app.tasks.runs import start
from agentforge.app.tasks.start_options import StartOptions
from agentforge.config.settings import Settings, load
from agentforge.errors import AgentForgeError
from agentforge.evals.case import write_files
from agentforge.evals.trials.hidden import hidden_failures
from agentforge.evals.trials.solution import script_of
from agentforge.evals.trials.task import HONEST, EvalTask, task_of
from agentforge.evals.trials.verdict import Ending, TrialQuestion, judge
from agentforge.events.kinds import Event, ToolStarted
from agentforge.events.state.run_state import RunState
from agentforge.suite import detect
from agentforge.workspace.git.newrepo import init_repository
from agentforge.workspace.git.repository import Git


def lend(source: Path, repo: Path, *, settings: Settings, environ: Mapping[str, str]) -> dict[str, object]:
    """Let the tests of `repo` run with what those of `source` run with.

    Args:
        source: the top of the user's repository, where dependencies are installed.
        repo: a repository of some of its files.
        settings: those of `source`.
    Returns:
        Settings (dotted key -> value) that name the interpreter, and hide all of `source`: an installation outside of it may
        lead to its files, which are newer ones.
    Side effects: folders like node_modules are put into `repo`, file by file as hard links where the file system allows it,
        and git is told not to see them. A Python environment among them leads to the files of `repo`.
    """
    table, source = settings.table("test"), source.resolve()
    plan = detect(source, settings=table, environ=environ)
    names, python = plan.environments, Path(plan.interpreter)
    for name in names:
        _link_all(source / name, repo / name)
    place = next((name for name in names if python.is_relative_to(source / name)), None)
    if place is not None:
        python = repo / python.relative_to(source)
        _lead_to(repo, source, python.parents[1])
    exclude = repo / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    with exclude.open("a", encoding="utf-8") as file:
        file.writelines(f"/{name}\n" for name in names)
    chosen = {f"test.{key}": value for key, value in table.items() if settings.origin(f"test.{key}") != "default"}
    hidden = [*map(str, settings.folders("sandbox.hidden")), str(source)]
    return {**chosen, "sandbox.hidden": hidden, **({"test.python": str(python)} if plan.interpreter else {})}


def _lead_to(repo: Path, source: Path, environment: Path) -> None:
    """Let the scripts and editable installations of a Python environment name `repo` where they name `source`."""
    named = re.compile(re.escape(os.fsencode(source)) + rb"(?![\w.-])")
    for path in (path for pattern in _LEADING for path in environment.glob(pattern)):
        data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        if named.search(data):
            mode = path.stat().st_mode
            path.unlink()  # its bytes are those of the user's file
            path.write_bytes(named.sub(lambda _: os.fsencode(repo), data))
            path.chmod(mode)


def _link_all(source: Path, target: Path) -> None:
    """Copy a file or folder by hard links; what cannot be linked is copied."""
    if not source.exists() or target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, copy_function=_link)
    else:
        _link(str(source), str(target))


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


Row = dict[str, Any]

ROW = "row.json"
SCRIPTED = "scripted"
_SETS = str(Path(__file__).parents[1] / "sets")
_QUIET = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # no task needs a plugin, and loading them is half of a test run
_TEST_TIMEOUT_S = 60
_LEADING = ("bin/*", "lib/python*/site-packages/*.pth", "lib/python*/site-packages/__editable__*.py")
_COUNTED = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "cost_usd", "unpriced")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What one process is to play.

    Attributes:
        model: `provider/name`; "scripted" or "scripted:NAME" takes the task's own answers.
        folder: of this task, new; its repository and trail stay in it.
        limits: those of events.state.Limits.
        settings: dotted setting -> value.
    """

    task: EvalTask
    model: str
    folder: Path
    limits: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def variant(self) -> str | None:
        """Which of the task's own answers are played; None when a model is asked."""
        return variant_of(self.model)


def variant_of(model: str) -> str | None:
    """Which of a task's own answers "scripted" or "scripted:NAME" means; None for a model that is asked."""
    provider, _, name = model.partition(":")
    return (name or HONEST) if provider == SCRIPTED else None


@dataclass(slots=True)
class Meter:
    """Wall and processor seconds by stage, told by the events of the run."""

    wall: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)
    peeked: bool = False
    parent: int = field(default_factory=os.getppid)
    _stage: str = "intake"
    _at: tuple[float, float] = field(default_factory=lambda: _clocks())

    def watch(self, event: Event, state: RunState) -> None:
        """Count what passed since the last event to the stage that it passed in.

        Raises:
            KeyboardInterrupt: the process that gave the order is gone; the task will be played again.
        """
        if os.getppid() != self.parent:
            raise KeyboardInterrupt
        if isinstance(event, ToolStarted) and _SETS in json.dumps(event.arguments, ensure_ascii=False, default=str):
            self.peeked = True
        now = _clocks()
        self.wall[self._stage] = self.wall.get(self._stage, 0.0) + now[0] - self._at[0]
        self.cpu[self._stage] = self.cpu.get(self._stage, 0.0) + now[1] - self._at[1]
        self._at, self._stage = now, state.progress.stage or self._stage


def play(order: Order, environ: Mapping[str, str]) -> Row:
    """Play a task and judge what came of it.

    Side effects: makes the repository below the order's folder and runs the task in it; both stay.
    """
    meter, began = Meter(), _clocks()
    try:
        settings, result = _started(order, environ, meter)
        ending = _ending(order, result, settings, environ, peeked=meter.peeked)
        spent = {**_spent(result.state, meter), "rules": _rules(result.state)}
    except AgentForgeError as exc:
        ending, spent = Ending(outcome="error", stage="intake", detail=exc.message), {"stages": []}
    judged = judge(order.task, ending)
    wall, cpu = (now - then for now, then in zip(_clocks(), began, strict=True))
    return {
        "task": order.task.name,
        "model": order.model,
        "expected": order.task.expected,
        "action": order.task.action,
        "examples": order.task.examples,
        **asdict(judged),
        "outcome": ending.outcome,
        "hidden": None if ending.hidden is None else {"passed": not ending.hidden, "failures": list(ending.hidden)},
        "wall_s": round(wall, 3),
        "cpu_s": round(cpu, 3),
        **spent,
    }


def main() -> int:
    """Play the order on standard input and leave its row."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process of some shells ignores it
    value = json.loads(sys.stdin.read())
    order = Order(**{**value, "task": task_of(value["task"]), "folder": Path(value["folder"])})
    parent = os.getppid()
    row = play(order, environment(order, os.environ))
    if os.getppid() != parent:
        return 1
    path = order.folder / ROW
    path.with_suffix(".tmp").write_text(json.dumps(row, ensure_ascii=False), "utf-8")
    path.with_suffix(".tmp").replace(path)
    return 0


def environment(order: Order, environ: Mapping[str, str]) -> dict[str, str]:
    """The user's environment; the scripted model, which needs no settings, gets a home of its own."""
    if order.variant is None:
        return dict(environ)
    kept = {name: value for name, value in environ.items() if not name.startswith("AGENTFORGE_")}
    return {**kept, "AGENTFORGE_HOME": str(order.folder / "home")}


def _started(order: Order, environ: Mapping[str, str], meter: Meter) -> tuple[Settings, RunResult]:
    task, repo = order.task, order.folder / "repo"
    _check_out(task.source, repo)
    write_files(task.repository, repo)
    write_files(task.given, order.folder / "given")
    init_repository(repo, message="base", ignored=bool(task.source))
    own = _lent(task, repo, environ) if task.source else _python()
    settings = load(repo, environ, flags={**own, **_scripted(order), **order.settings, **task.settings})
    options = StartOptions(
        request=task.request,
        cwd=repo,
        model=_model(order),
        limits=dict(order.limits),
        tests=tuple(str(order.folder / "given" / path) for path in task.given),
    )
    return settings, start(options, settings=settings, environ=environ, watch=meter.watch)


def _check_out(source: tuple[str, ...], repo: Path) -> None:
    """Write the files of a tree; its history, in which the solution may stand, stays where it is."""
    if source:
        Git.open(Path(source[0])).materialise(source[1], repo)


def _lent(task: EvalTask, repo: Path, environ: Mapping[str, str]) -> dict[str, object]:
    """Lend the environment of the task's source to the new repository."""
    source = Path(task.source[0])
    return lend(source, repo, settings=load(source, environ, flags=task.settings), environ=environ)


def _python() -> dict[str, object]:
    """Tests run with our own python where it has pytest, and a suite that hangs is ended soon: these are small."""
    found = importlib.util.find_spec("pytest") is not None
    return {"test.env": _QUIET, "test.timeout": _TEST_TIMEOUT_S, **({"test.python": sys.executable} if found else {})}


def _scripted(order: Order) -> dict[str, object]:
    """A script cannot answer when mutants make RED add tests."""
    return {"verification.mutants": 0, "verification.returns": 0} if order.variant is not None else {}


def _model(order: Order) -> str:
    if order.variant is None:
        return order.model
    import yaml

    path = order.folder / "script.yaml"
    script = script_of(order.task, order.task.answers[order.variant])
    path.write_text(yaml.safe_dump({**script, "repeat_last": True}, allow_unicode=True), "utf-8")
    return f"scripted/{path}"


def _ending(order: Order, result: RunResult, settings: Settings, environ: Mapping[str, str], *, peeked: bool) -> Ending:
    state, task = result.state, order.task
    outcome = "error" if result.error is not None else outcome_of(state)
    findings = [str(item.get("message", "")) for item in state.review.findings]
    hidden = None
    if outcome == "delivered" and task.hidden:
        commit = str((state.work.delivered or {})["commit"])
        hidden = hidden_failures(
            Path(state.identity.repo), commit, task.hidden, settings=settings, environ=environ, uncounted=task.uncounted,
            base=state.identity.base_commit,
        )  # fmt: skip
    return Ending(
        outcome=outcome,
        stage=str(result_value(result)["stage"]),
        asked=tuple(
            TrialQuestion(kind=one.kind, text=f"{one.question} {one.reason} {' '.join(one.options)}")
            for one in state.people.open_escalations
        ),
        report=json.dumps(state.work.artifacts.get("analyze", {}), ensure_ascii=False, default=str),
        hidden=hidden,
        peeked=peeked,
        detail="; ".join([*([result.error.message] if result.error else []), *findings])[:600],
    )


def _rules(state: RunState) -> list[str]:
    """The rules that refused what was handed in last, each once."""
    return list(dict.fromkeys(str(item.get("rule", "")) for item in state.review.findings))


def _spent(state: RunState, meter: Meter) -> Row:
    """Calls, tokens, money and time by stage, and the sums of the first; `cost_usd` is None where a price is not known."""
    rows = []
    for name in dict.fromkeys([*state.progress.stages, *meter.wall]):
        spent = [one for one in state.usage.spending.values() if one.stage == name]
        counted = {key: sum(getattr(one, key) for one in spent) for key in _COUNTED}
        if not spent and name not in meter.wall:
            continue
        attempts = state.progress.stages[name].attempt if name in state.progress.stages else 0
        times = {"wall_s": round(meter.wall.get(name, 0.0), 3), "cpu_s": round(meter.cpu.get(name, 0.0), 3)}
        rows.append({"name": name, "attempts": attempts, **counted, **times})
    sums = {key: sum(row[key] for row in rows) for key in _COUNTED}
    known = not sums["unpriced"]
    return {
        "run_id": state.identity.run_id,
        "branch": (state.work.delivered or {}).get("branch"),
        **{key: value for key, value in sums.items() if key != "unpriced"},
        "cost_usd": round(sums["cost_usd"], 6) if known else None,
        "stages": rows,
    }


def _clocks() -> tuple[float, float]:
    """Wall seconds, and processor seconds of this process and of the children that ended."""
    used = os.times()
    return time.monotonic(), used.user + used.system + used.children_user + used.children_system


if __name__ == "__main__":
    sys.exit(main())
