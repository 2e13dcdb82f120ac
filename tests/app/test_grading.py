"""Proves that a model is graded by the code that runs use, once for a machine, and that the grade is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentforge.app.models import grade as grading
from agentforge.config.settings import load
from agentforge.messages import ModelReply, ModelRequest, Usage
from agentforge.models.api.model import ModelSpec

if TYPE_CHECKING:
    from collections.abc import Callable

SPEC = ModelSpec(provider="llamacpp", name="tiny", profile="small")
CLAMP = "def clamp(value, low, high):\n    return max(low, min(high, value))"


class Answering:
    """A model that answers by what is asked."""

    name = "llamacpp/tiny"

    def __init__(self, place: str) -> None:
        self.place = place
        self.asked = 0

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        self.asked += 1
        schema = str(request.json_schema)
        text = CLAMP
        if "place" in schema:
            text = json.dumps({"place": self.place})
        elif "examples" in schema:
            text = json.dumps(
                {"examples": [{"call": "is_even(2)", "returns": "True"}, {"call": "is_even(", "returns": "1"}]}
            )
        return ModelReply(
            text="def clamp(): pass" if text is CLAMP else text,
            tool_calls=(),
            finish="stop",
            usage=Usage(),
            model=self.name,
            others=(text,) if text is CLAMP else (),
        )

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    chosen = {("function", "clamp"), ("place", ""), ("examples", "is_even")}
    rows = [(kind, item) for kind, item in grading.built_in_items() if (kind, str(item.get("name", ""))) in chosen]
    first = dict(reversed(rows))
    monkeypatch.setattr(grading, "built_in_items", lambda: list(first.items()))
    return {"AGENTFORGE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}


def test_what_a_model_shows_is_measured_and_kept(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Answering("shop/users.py::rename")
    monkeypatch.setattr("agentforge.app.models.grade.open_model", lambda _spec: model)
    settings = load(tmp_path, environ)
    value = grading.first_grade(SPEC, settings=settings, environ=environ)
    assert (value["function"], value["place"], value["examples"]) == (True, False, True)
    assert (value["right"], value["answered"], value["items"]) == (2, 3, 3)
    known = grading.first_grade(SPEC, settings=settings, environ=environ)
    assert (known["function"], model.asked) == (True, 3)  # nothing is asked twice


def test_only_models_of_this_machine_on_the_small_road_are_graded_by_themselves(tmp_path: Path) -> None:
    environ = {"AGENTFORGE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    settings = load(tmp_path, environ)
    assert grading.is_graded_by_itself(SPEC, settings)
    assert not grading.is_graded_by_itself(ModelSpec(provider="openai", name="x", profile="small"), settings)
    assert not grading.is_graded_by_itself(ModelSpec(provider="local", name="x"), settings)
    off = load(tmp_path, environ, flags={"model.grade": "off"})
    assert not grading.is_graded_by_itself(SPEC, off)


def test_there_are_a_dozen_items_of_three_kinds() -> None:
    kinds = [kind for kind, _ in grading.built_in_items()]
    assert [kinds.count(kind) for kind in grading.KINDS] == [5, 4, 3]
