"""A task set from a repository's history: each commit whose tests fail before it and pass at it, with these tests hidden.

A task is a folder as `eval run` reads it: `task.yaml` (the request, the parent as `source`) and `hidden/` (the commit's tests).
`left-out.txt` beside the tasks names every other commit with the reason. The set is written beside its place and moved there
when it is whole.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentforge.config.settings import Settings
from agentforge.errors import RepositoryError, StorageError, UsageError
from agentforge.evals.case import write_files
from agentforge.evals.history.commits import History, HistoryCommit, LeftOut
from agentforge.evals.history.evidence import HistoryEvidence, evidence_of, names_of
from agentforge.evals.history.requests import action_of, message_of, written
from agentforge.evals.trials.hidden import failures_by, rig_at, rig_of
from agentforge.evals.trials.task import FILE
from agentforge.models import Model
from agentforge.safety.text.hygiene import clean
from agentforge.suite import Rig

LEFT_OUT = "left-out.txt"
UNEDITED = "unedited"
_SLUG = 40  # characters
_UNSAID = "its message says nothing that could be asked for; --model writes a request from its tests"
_REFUSED = "the judge of hidden tests refuses the commit itself: "
_NAMED = 12  # tests in the note above a request


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What became of one commit.

    Attributes:
        task: the name of its task; "" when it was left out.
        reason: why it was left out, as a sentence.
        targets: how many hidden tests fail before it.
        tokens: what writing its request cost.
    """

    sha: str
    subject: str
    task: str = ""
    reason: str = ""
    targets: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFolder:
    """A folder that is being filled. `place` is where it will stand when it is whole."""

    place: Path
    draft: Path

    @classmethod
    def begin(cls, place: Path) -> SetFolder:
        """Make the draft beside the place.

        Raises:
            UsageError: there is something already.
            StorageError: it cannot be written.
        """
        place = place.expanduser().absolute()
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise UsageError(f"{place} is not empty", hint="name a new folder: --out DIR")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            return cls(place=place, draft=Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent)))
        except OSError as exc:
            raise StorageError(f"{place.parent} cannot be written: {exc.strerror}", hint="name another folder") from exc

    def finish(self, made: Sequence[Made]) -> None:
        """Write who was left out, and move the set to its place."""
        lines = [f"{one.sha[:12]} {_printable(f'{one.subject}: {one.reason}')}\n" for one in made if one.reason]
        (self.draft / LEFT_OUT).write_text("".join(lines), "utf-8")
        self.draft.chmod(0o755)
        if self.place.exists():
            self.place.rmdir()
        self.draft.rename(self.place)

    def drop(self) -> None:
        """Remove the draft; what stands at the place is not touched."""
        shutil.rmtree(self.draft, ignore_errors=True)


def tasks_from(
    history: History,
    commits: Iterator[HistoryCommit | LeftOut],
    folder: Path,
    *,
    settings: Settings,
    environ: Mapping[str, str],
    model: Model | None = None,
) -> Iterator[Made]:
    """Measure each commit and write the task of each that can be judged; yields what became of it at once.

    Args:
        history: of the user's repository, which is not bare and in which its tests can run.
        folder: an existing one; each task becomes a folder in it.
        model: writes the requests; None takes the messages as they are.
    Raises:
        ModelError: the model cannot be asked.
    """
    with tempfile.TemporaryDirectory(prefix="agentforge-history-") as scratch:
        rig = rig_of(history.command.top, Path(scratch), settings=settings, environ=environ)
        for one in commits:
            if isinstance(one, LeftOut):
                yield Made(sha=one.sha, subject=one.subject, reason=one.message)
                continue
            if model is None and not message_of(one):
                yield Made(sha=one.sha, subject=one.subject, reason=_UNSAID)
                continue
            try:
                found = _judged(one, history, rig, settings=settings, environ=environ)
            except RepositoryError as exc:
                told = LeftOut(sha=one.sha, subject=one.subject, reason="partial").message
                yield Made(sha=one.sha, subject=one.subject, reason=f"{told} ({exc.message})")
                continue
            if found.reason:
                yield Made(sha=one.sha, subject=one.subject, reason=found.reason)
                continue
            yield _written_task(one, found, history, folder, rig=rig, model=model)


def _judged(
    commit: HistoryCommit, history: History, rig: Rig, *, settings: Settings, environ: Mapping[str, str]
) -> HistoryEvidence:
    """What the commit's tests say, and where the judge of a delivery would refuse the commit itself, that as the reason."""
    found = evidence_of(commit, history, rig, settings=settings, environ=environ)
    if found.reason:
        return found
    judge = rig_at(rig, commit.parent, settings=settings, environ=environ)  # a task begins there
    refused = failures_by(judge, commit.sha, found.files, uncounted=found.uncounted, base=commit.parent)
    return replace(found, reason=f"{_REFUSED}{refused[0]}") if refused else found


def _written_task(
    commit: HistoryCommit, found: HistoryEvidence, history: History, folder: Path, *, rig: Rig, model: Model | None
) -> Made:
    request, tokens = message_of(commit), 0
    if model is not None:
        request, tokens = written(commit, _tests_diff(commit, history), model)
    name = f"{commit.sha[:9]}-{_slug(clean(commit.subject))}"
    value: dict[str, Any] = {
        "request": request,
        "action": action_of(commit),
        "source": f"{history.command.top}@{commit.parent}",
        "settings": {"test.timeout": int(rig.plan.timeout_s)},
        "tags": ["history"] if model is not None else ["history", UNEDITED],
    }
    if found.uncounted:
        value["uncounted"] = list(found.uncounted)
    place = folder / name
    write_files(found.files, place / "hidden")
    (place / FILE).write_text(_note(commit, found, by_hand=model is None) + _yaml(value), "utf-8")
    return Made(sha=commit.sha, subject=commit.subject, task=name, targets=len(found.targets), tokens=tokens)


def _tests_diff(commit: HistoryCommit, history: History) -> str:
    paths = [path for one in commit.tests for path in {one.path, one.old_path} if path]
    output = history.command.output("diff-tree", "-p", "--no-color", commit.parent, commit.sha, "--", *paths)
    return output.decode("utf-8", "replace")


def _note(commit: HistoryCommit, found: HistoryEvidence, *, by_hand: bool) -> str:
    """What a person who edits the request wants to know, as comments."""
    names = names_of(found.targets)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    lines = [f"{commit.sha[:12]}: {commit.subject}", f"These tests fail before it: {', '.join(names[:_NAMED])}{more}."]
    if by_hand:
        lines += [
            "The request is the commit's message. Edit it: say what the hidden tests want and the message does not, every name",
            f"and exact value they use. Then remove the tag {UNEDITED}.",
        ]
    return "".join(f"# {_printable(line)}\n" for line in lines)


def _printable(text: str) -> str:
    """A text on one line, without what no YAML may hold and no terminal should get."""
    return " ".join(clean(text).split()).encode("utf-8", "replace").decode()


def _yaml(value: Mapping[str, Any]) -> str:
    """YAML as a person would write it: a text of several lines as a block."""
    import yaml

    class Plain(yaml.SafeDumper):
        """The safe dumper with blocks."""

    def block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        style = "|" if "\n" in text else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Plain.add_representer(str, block)
    plain = {**value, "request": "\n".join(line.rstrip() for line in clean(str(value["request"])).splitlines())}
    return str(yaml.dump(plain, Dumper=Plain, allow_unicode=True, sort_keys=False, width=120))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:_SLUG].strip("-") or "change"
