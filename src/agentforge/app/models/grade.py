"""Grading a model on this machine: a dozen small items through the code that a run uses; what it can do unlocks stages."""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.canonical import digest_value
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.frozen import dataclass
from agentforge.languages.symbols import Symbol
from agentforge.local import find
from agentforge.messages import Message, ModelRequest
from agentforge.models import Model, ModelSpec, open_model
from agentforge.pipeline.model.profile import PROFILES, profile_named
from agentforge.pipeline.model.stage import items, texts
from agentforge.pipeline.small_models.generation.prompt_variants import PREFILL, STOP, CodeShown, asked
from agentforge.pipeline.small_models.generation.suite_template import assertions
from agentforge.pipeline.small_models.generation.units import Unit
from agentforge.pipeline.small_models.reading.choices import (
    choice_messages,
    choice_schema,
    chosen_in,
    examples_in,
    examples_messages,
    examples_schema,
)
from agentforge.pipeline.small_models.refactoring.splices import Unusable, answer_in, spliced
from agentforge.store.log.files import replace_file
from agentforge.suite import Edits, Rig
from agentforge.testing.plan import TestPlan
from agentforge.verification.examples.claims import Claim, claims_in
from agentforge.verification.examples.plain_answers import CallResult
from agentforge.verification.examples.plain_check import Probe, evaluate, judge, resolve
from agentforge.workspace.git.newrepo import init_repository
from agentforge.workspace.git.repository import Git
from agentforge.workspace.sandbox.box import Preference, choose

if TYPE_CHECKING:
    pass

    pass

Json = Mapping[str, object]
KINDS = ("function", "place", "examples")
_ENOUGH = {"function": 0.4, "place": 0.7, "examples": 0.6}
_SAMPLES = 2
_VERSION = 1
_MACHINES = ("local", "llamacpp", "lmstudio", "ollama", "custom")


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """One item.

    Attributes:
        seconds: until it was answered and judged.
        note: what was wrong, in words.
    """

    kind: str
    name: str
    passed: bool
    seconds: float
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What a model has shown on this machine.

    Attributes:
        abilities: kind -> whether enough items were right; a kind of which none was reached is left out.
        asked: items in all.
    """

    model: str
    abilities: Mapping[str, bool]
    rows: tuple[Graded, ...]
    asked: int
    seconds: float
    key: str = ""
    known: bool = field(default=False)

    def value(self) -> dict[str, object]:
        """As it stands in the file of grades and in a run's first record."""
        right = sum(row.passed for row in self.rows)
        return {
            **self.abilities,
            "right": right,
            "answered": len(self.rows),
            "items": self.asked,
            "seconds": round(self.seconds, 1),
        }


def grade_of(spec: ModelSpec, *, environ: Mapping[str, str]) -> dict[str, object]:
    """The grade that was recorded for a model on this machine; {} when it was never graded."""
    value = _recorded(environ).get(grade_key(spec))
    return dict(value) if isinstance(value, Mapping) else {}


def is_graded_by_itself(spec: ModelSpec, settings: Settings) -> bool:
    """Whether a model is graded when it is first used: one of this machine that takes the small road."""
    return (
        PROFILES[profile_named(spec.profile)].is_graded
        and spec.provider in _MACHINES
        and settings.text("model.grade") != "off"
    )


def first_grade(spec: ModelSpec, *, settings: Settings, environ: Mapping[str, str]) -> dict[str, object]:
    """The recorded grade; where there is none and the settings want one, the model is graded now.

    Raises:
        ModelError: the model cannot be asked at all.
    Side effects: asks the model; writes the file of grades.
    """
    known = grade_of(spec, environ=environ)
    if known or not is_graded_by_itself(spec, settings):
        return known
    return grade(spec, settings=settings, environ=environ).value()


def grade(
    spec: ModelSpec,
    *,
    settings: Settings,
    environ: Mapping[str, str],
    told: Callable[[Graded], None] = lambda _row: None,
) -> Grade:
    """Try a model on the built-in items, and record the result for this machine.

    Args:
        told: called with every item when it was judged.
    Raises:
        ModelError: the model cannot be asked at all.
    Side effects: asks the model about twelve times; writes the file of grades.
    """
    began, most = time.monotonic(), settings.number("model.grade_s")
    rows: list[Graded] = []
    todo = built_in_items()
    model = open_model(spec)
    try:
        with _rig(settings) as rig:
            for kind, item in todo:
                if rows and time.monotonic() - began >= most:
                    break
                rows.append(_graded(kind, item, model, rig))
                told(rows[-1])
    finally:
        model.close()
    found = Grade(
        model=spec.full_name,
        abilities=_abilities(rows),
        rows=tuple(rows),
        asked=len(todo),
        seconds=time.monotonic() - began,
        key=grade_key(spec),
    )
    _record(found, environ)
    return found


def grade_key(spec: ModelSpec) -> str:
    """Names a model on this machine: by the digest of its file where it is known, else by its address and name."""
    machine = [platform.machine(), platform.node(), os.cpu_count()]
    return digest_value([_VERSION, _identity(spec), machine])[:24]


def built_in_items() -> list[tuple[str, Json]]:
    """(kind, item) in the order of asking."""
    import tomllib

    text = Path(__file__).with_name("grading.toml").read_text("utf-8")
    order = [line.strip("[]\n ") for line in text.splitlines() if line.startswith("[[")]
    rows = {kind: iter(items(value)) for kind, value in tomllib.loads(text).items()}
    return [(kind, next(rows[kind])) for kind in order]


def _identity(spec: ModelSpec) -> list[str]:
    if spec.provider != "local":
        return [spec.provider, spec.name, spec.base_url]

    entry = find(spec.name)
    return [spec.provider, entry.sha256 if entry is not None else spec.name]


def _abilities(rows: list[Graded]) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for kind in KINDS:
        own = [row.passed for row in rows if row.kind == kind]
        if own:
            found[kind] = sum(own) / len(own) >= _ENOUGH[kind]
    return found


def _graded(kind: str, item: Json, model: Model, rig: Rig) -> Graded:
    began = time.monotonic()
    judge = {"function": _function, "place": _place, "examples": _examples}[kind]
    note = judge(item, model, rig)
    name = str(item.get("name") or item.get("right"))
    return Graded(kind=kind, name=name, passed=not note, seconds=time.monotonic() - began, note=note)


def _function(item: Json, model: Model, rig: Rig) -> str:
    """One function, tests shown; right when one of the samples gives what shown and hidden examples say."""
    name, file = str(item["name"]), str(item["file"])
    kind = "method" if "." in name else "function"
    unit = Unit(name=name, file=file, kind=kind, change=str(item["change"]), module=file.removesuffix(".py"))
    source = str(item["source"]).lstrip()
    shown = [claim for text in texts(item["shown"]) for claim in claims_in(text)]
    hidden = [claim for text in texts(item["hidden"]) for claim in claims_in(text)]
    sight = CodeShown(request=str(item["request"]), unit=unit, source=source, tests=assertions(shown))
    request = _request(asked(sight, form=0), tokens=220)
    reply = model.complete(replace(request, samples=_SAMPLES, prefill=PREFILL, stop=STOP, temperature=0.6))
    notes = []
    for sample in reply.samples:
        try:
            text = spliced(source, unit, answer_in(sample, unit))
        except Unusable as exc:
            notes.append(str(exc))
            continue
        wrong = _wrong(rig, unit.file, text, name, [*shown, *hidden])
        if not wrong:
            return ""
        notes.append(wrong)
    return notes[0] if notes else "no answer"


def _wrong(rig: Rig, file: str, text: str, name: str, claims: list[object]) -> str:
    """The first example that a file does not give."""
    known = cast("list[Claim]", claims)
    symbols = [Symbol(name=name, file=file, kind="function")]
    names = [resolve(one.call, symbols, read=lambda _path: text.encode(), roots=(".",)) for one in known]
    probes = [Probe(source=one.call, names=found or {}) for one, found in zip(known, names, strict=True)]
    tree = rig.git.tree_of("HEAD")
    groups = evaluate(rig, tree, [probes], edits=Edits(files={file: text.encode()}))
    answers = groups[0] if groups else [CallResult(ended="never ran") for _ in known]
    return next((wrong for one, answer in zip(known, answers, strict=True) if (wrong := judge(one, answer))), "")


def _place(item: Json, model: Model, _rig: Rig) -> str:
    """One constrained choice."""
    rows = [dict(zip(("place", "shown"), text.split("  ", 1), strict=True)) for text in texts(item["options"])]
    request = _request(choice_messages(str(item["request"]), rows), tokens=60)
    places = [row["place"] for row in rows]
    reply = model.complete(replace(request, json_schema=choice_schema(places), temperature=0.0))
    found = chosen_in(reply.text, places)
    return "" if found == item["right"] else f"chose {found or 'nothing of the list'}"


def _examples(item: Json, model: Model, rig: Rig) -> str:
    """Candidate examples for a person: right when most of them hold."""
    file, name = str(item["file"]), str(item["name"])
    request = _request(examples_messages(str(item["request"]), f"- {name} in {file}: new"), tokens=320)
    reply = model.complete(replace(request, json_schema=examples_schema(), temperature=0.2))
    claims = [claim for claim in examples_in(reply.text) if name in claim.call]
    if not claims:
        return "no usable example"
    wrong = [one for one in claims if _wrong(rig, file, str(item["solution"]), name, [one])]
    return "" if len(wrong) * 2 <= len(claims) else f"{len(wrong)} of {len(claims)} examples are wrong"


def _request(messages: tuple[object, ...], *, tokens: int) -> ModelRequest:
    labels: dict[str, str | int] = {"stage": "grade", "stage_step": 1}
    return ModelRequest(messages=cast("tuple[Message, ...]", messages), max_output_tokens=tokens, labels=labels)


@contextmanager
def _rig(settings: Settings) -> Iterator[Rig]:
    """An empty repository with a sandbox, in which samples are run."""
    with tempfile.TemporaryDirectory(prefix="agentforge-grade-") as top:
        repo = Path(top).resolve() / "repository"
        repo.mkdir()
        (repo / "README.md").write_text("a place for samples\n", "utf-8")
        init_repository(repo, message="empty")
        yield Rig(
            plan=TestPlan(runner="pytest", interpreter=sys.executable),
            git=Git.open(repo),
            mount_at=repo,
            sandbox=choose(
                cast("Preference", settings.text("sandbox.kind", "auto")), hidden=settings.folders("sandbox.hidden")
            ),
            scratch=repo.with_name("scratch"),
            timeout_s=15.0,
            cache=None,
        )


def _file(environ: Mapping[str, str]) -> Path:
    return data_dir(environ) / "grades.json"


def _recorded(environ: Mapping[str, str]) -> dict[str, object]:
    path = _file(environ)
    try:
        value = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    except ValueError:
        return {}  # half a file: the model is graded again
    return value if isinstance(value, dict) else {}


def _record(found: Grade, environ: Mapping[str, str]) -> None:
    rows = [{"kind": row.kind, "name": row.name, "passed": row.passed, "note": row.note} for row in found.rows]
    value = {**found.value(), "model": found.model, "rows": rows}
    text = json.dumps({**_recorded(environ), found.key: value}, indent=1, ensure_ascii=False)
    replace_file(_file(environ), text.encode(), durable=True)
