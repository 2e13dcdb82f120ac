"""Runs whose every text is hostile, and the real dashboard over them."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from agentforge.config.paths import data_dir
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.storage.state_codec import encode
from agentforge.store.log.records import GENESIS, read_line, write_line
from agentforge.store.log.run_log import RunLog
from agentforge.store.sessions.folders import run_folder

HOSTILE = "<script>window.broken=1</script><img src=x onerror=window.broken=1>\"'>{{7*7}}"
BIDI = "a\u202eb"
LONG_STEPS = 2000


@dataclass
class Answer:
    """What the dashboard answered."""

    status: int
    headers: Mapping[str, str]
    body: str


@dataclass
class Served:
    """A dashboard that runs, and its repository."""

    process: subprocess.Popen[str]
    address: str
    repo: Path
    printed: list[str] = field(default_factory=list)

    @property
    def token(self) -> str:
        """The token of its address."""
        return self.address.partition("#token=")[2]

    @property
    def base(self) -> str:
        """Its address without the token."""
        return self.address.partition("/#")[0]

    @property
    def netloc(self) -> str:
        """Host and port."""
        return self.base.removeprefix("http://")

    @property
    def key(self) -> str:
        """What stands for the repository in addresses."""
        from agentforge.dashboard.ground import Repository

        return Repository(name="", path=self.repo).key

    def task(self, name: str, tab: str = "") -> str:
        """The path of a task's page."""
        return f"/t/{self.key}/task-20260101-{name}" + (f"/{tab}" if tab else "")

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        form: Mapping[str, str] | None = None,
        as_program: bool = True,
        **headers: str,
    ) -> Answer:
        """Ask for a page; with the token in a header unless told otherwise."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if as_program:
            given["authorization"] = f"Bearer {self.token}"
        if form is not None:
            given["content-type"] = "application/x-www-form-urlencoded"
        host, _, port = self.netloc.partition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=30)
        try:
            connection.request(method, path, body=urlencode(form) if form is not None else None, headers=given)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(status=answer.status, headers=found, body=answer.read().decode())
        finally:
            connection.close()

    def enter(self) -> str:
        """Exchange the token for the cookie; returns it as the header to send."""
        answer = self.ask("/login", method="POST", form={"token": self.token}, as_program=False, origin=self.base)
        assert answer.status == 303, answer.body
        return answer.headers["set-cookie"].partition(";")[0]

    def cpu_s(self) -> float:
        """CPU seconds that the server used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serve(repo: Path, home: Path, *arguments: str) -> Served:
    """Start the dashboard of a repository."""
    env = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(home), "AGENTFORGE_HOME": str(home / "af"),
        "USER": "ann", "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "agentforge", "dashboard", "--cwd", str(repo), *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, cwd=home,
    )  # fmt: skip
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://\S+", line)
    assert found, line + process.stdout.read()
    return Served(process=process, address=found[0], repo=repo.resolve())


def close(served: Served) -> str:
    """Stop it as Ctrl-C does; returns all that it printed after its address."""
    served.process.send_signal(signal.SIGINT)
    out, _ = served.process.communicate(timeout=20)
    return out


def git(repo: Path, *arguments: str) -> None:
    """Run git in a repository."""
    settings = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *settings, *arguments], cwd=repo, check=True, capture_output=True)


def started(repo: Path, name: str, **changed: Any) -> kinds.RunStarted:
    """The first record of a run."""
    values = {"request": f"add {name}", "base_commit": "b" * 40, **changed}
    return kinds.RunStarted(kind="task", run_id=f"task-20260101-{name}", repo=str(repo), **values)


def tell(repo: Path, name: str, *events: Event, **changed: Any) -> Path:
    """Record a run."""
    folder = repo / ".agentforge" / "tasks" / f"task-20260101-{name}"
    with RunLog.create(folder, started(repo, name, **changed), clock=lambda: "2026-01-01T10:00:00.000000Z") as log:
        for event in events:
            log.append(event)
    return folder


def hostile_events() -> tuple[Event, ...]:
    """A run whose every text is hostile, and that asks a question."""
    call = {"call_id": "1", "name": HOSTILE, "arguments": HOSTILE}
    return (
        kinds.StageStarted(stage="intake", attempt=1),
        kinds.ModelCalled(step=1, stage="intake", attempt=1, model=HOSTILE, request="a" * 64, context_tokens=10),
        kinds.ModelReplied(step=1, text=HOSTILE, tool_calls=(call,), finish="tool_calls", usage={"prompt_tokens": 10}, model=HOSTILE),
        kinds.ToolStarted(step=1, index=0, call_id="1", name=HOSTILE, arguments={HOSTILE: HOSTILE}, effect="read"),
        kinds.ToolFinished(step=1, index=0, call_id="1", name=HOSTILE, status="error", summary=HOSTILE, text=BIDI, paths=(HOSTILE,)),
        kinds.StepFinished(step=1, stage="intake", summary=HOSTILE),
        kinds.FactsGathered(
            name=HOSTILE, attempt=1, tree=HOSTILE, facts={"tests_run": 4, "passed": 4, "controls": {"held": True, "canary": "held"}}
        ),
        kinds.EscalationRaised(
            escalation_id="E1", stage="intake", kind="question", reason=HOSTILE, question=HOSTILE,
            options=(HOSTILE, "plain"), context={HOSTILE: [HOSTILE]}, shown=f"FAILED {HOSTILE} {'x' * 200}",
        ),
    )  # fmt: skip


def long_log(repo: Path, name: str, steps: int) -> Path:
    """Write a run of five records a step, without views, as fast as a file can be written."""
    folder = repo / ".agentforge" / "tasks" / f"task-20260101-{name}"
    folder.mkdir(parents=True)
    stage = kinds.StageStarted(stage="green", attempt=1)
    lines, prev = [], GENESIS
    events = (started(repo, name), stage, *(event for step in range(1, steps + 1) for event in _step(step)))
    for seq, event in enumerate(events, 1):
        kind, data = encode(event)
        line = write_line(kind, data, seq=seq, at="2026-01-01T10:00:00.000000Z", fence=1, prev=prev)
        prev = read_line(line, seq=seq, prev=prev, fence=1).hash
        lines.append(line)
    (folder / "events.jsonl").write_bytes(b"".join(lines))
    return folder


def _step(step: int) -> tuple[Event, ...]:
    call = {"call_id": "1", "name": "read_file", "arguments": '{"path": "a.py"}'}
    usage = {"prompt_tokens": 1000 + step % 700, "completion_tokens": 50}
    return (
        kinds.ModelCalled(step=step, stage="green", attempt=1, model="m", request="a" * 64, context_tokens=1000),
        kinds.ModelReplied(
            step=step, text=f"look at part {step}", tool_calls=(call,), finish="tool_calls", usage=usage, model="m"
        ),
        kinds.ToolStarted(step=step, index=0, call_id="1", name="read_file", arguments={"path": "a.py"}, effect="read"),
        kinds.ToolFinished(
            step=step, index=0, call_id="1", name="read_file", status="success", summary="a.py", text="x" * 800
        ),
        kinds.StepFinished(step=step, stage="green", summary="read_file"),
    )


def changed_run(repo: Path, name: str) -> Path:
    """Record a run that changed a file of the repository, and added one; the checkout stays as it is."""
    (repo / "a.py").write_text('x = 2\ny = "<b>"\n')
    (repo / "new.py").write_text("def f(text: str) -> str:\n    return text\n")
    git(repo, "add", "-A")
    tree = subprocess.run(["git", "write-tree"], cwd=repo, check=True, capture_output=True, text=True).stdout.strip()
    git(repo, "reset", "-q", "--hard")
    return tell(
        repo, name,
        kinds.StageStarted(stage="green", attempt=1),
        kinds.ModelCalled(step=1, stage="green", attempt=1, model="m", request="a" * 64, context_tokens=10),
        kinds.ModelReplied(step=1, text="I change it.", tool_calls=(), finish="stop", usage={"prompt_tokens": 10}, model="m"),
        kinds.StepFinished(step=1, stage="green", summary="edit", tree=tree),
        kinds.RunInterrupted(reason="No key for the model: set M_API_KEY.", slug="no-model"),
        base_commit=head(repo),
    )  # fmt: skip


def head(repo: Path) -> str:
    """The commit that is checked out."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def tell_session(home: Path, name: str, *texts: str) -> Path:
    """Record a conversation in which each text is answered by its own echo, after one call of a tool."""
    folder = run_folder(data_dir({"HOME": str(home), "AGENTFORGE_HOME": str(home / "af")}), name)
    first = kinds.RunStarted(kind="session", run_id=name, request="", repo="/tmp", base_commit="")
    with RunLog.create(folder, first, clock=lambda: "2026-01-01T10:00:00.000000Z") as log:
        for turn, text in enumerate(texts, 1):
            call = {"call_id": str(turn), "name": "read_file", "arguments": "{}"}
            usage = {"prompt_tokens": 10, "completion_tokens": 2}
            for event in (
                kinds.UserSaid(turn=turn, text=text),
                kinds.ModelCalled(step=turn, stage="chat", attempt=1, model="m", request="a" * 64, context_tokens=9),
                kinds.ModelReplied(
                    step=turn, text=f"{text}\n\n```python\nx = '{text}'\n```", tool_calls=(call,), finish="tool_calls", usage=usage,
                    model="m",
                ),
                kinds.ToolStarted(step=turn, index=0, call_id=str(turn), name="read_file", arguments={"path": text}, effect="read"),
                kinds.ToolFinished(
                    step=turn, index=0, call_id=str(turn), name="read_file", status="success", summary=text, text=text
                ),
                kinds.StepFinished(step=turn, stage="chat", summary="read_file"),
                kinds.TurnFinished(turn=turn, outcome="completed"),
            ):  # fmt: skip
                log.append(event)
    return folder


def make_repository(root: Path) -> Path:
    """A repository with one commit."""
    root.mkdir(parents=True)
    (root / "a.py").write_text("x = 1\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    return root
