"""Files with stages: what is found, what is refused, and how their functions fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.app.tasks.added_stages import added_now, stages_digest
from agentforge.config.settings import load
from agentforge.config.trust import grant, trusted
from agentforge.errors import ConfigError, ToolchainError, TrustRequired
from agentforge.events.state.run_state import RunState

_STAGE = """
from agentforge.pipeline.model.stage import Stage
def complete(state, draft, facts):
    return {body}
STAGE = Stage(name={name!r}, after="spec", consumes=("spec",), produces={name!r}, purpose="p", prompt="P",
              contract="contract: {name}\\nschema: {{x: {{type: string}}}}\\n", complete=complete)
"""


class Place:
    """A project and a user's own folder."""

    def __init__(self, folder: Path) -> None:
        self.repo, home = folder / "repo", folder / "home"
        self.environ = {"AGENTFORGE_HOME": str(home), "HOME": str(home)}
        self.own = home / "config" / "stages"
        self.project = self.repo / ".agentforge" / "stages"
        (self.repo / ".git").mkdir(parents=True)

    def put(self, folder: Path, name: str, text: str = "", *, body: str = '{"x": "y"}') -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(text or _STAGE.format(name=name, body=body))

    def found(self, *, trust: bool = True):  # type: ignore[no-untyped-def] # the tuple of stages
        if trust:
            grant(trusted(self.repo, self.environ), self.environ, now="2026-01-01T00:00:00Z")
        return added_now(self.repo, settings=load(self.repo, self.environ), environ=self.environ)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_stages_of_the_project_and_of_the_user_are_found_and_named_by_their_files(place: Place) -> None:
    assert place.found() == ()
    place.put(place.project, "threats")
    place.put(place.own, "news")
    place.put(place.project, "_part", "raise SystemExit")
    found = place.found()
    assert [one.stage.name for one in found] == ["news", "threats"]
    assert found[1].source == ".agentforge/stages/threats.py"
    assert found[0].source.endswith("/stages/news.py")
    assert len(stages_digest([one.row for one in found])) == 64


def test_a_project_is_not_loaded_before_somebody_agreed_to_these_bytes(place: Place) -> None:
    place.put(place.project, "threats", "raise RuntimeError('it ran')")
    with pytest.raises(TrustRequired, match=r"threats\.py"):
        place.found(trust=False)
    with pytest.raises(ConfigError, match="it ran"):
        place.found()


def test_two_of_one_name_are_an_error_that_names_both(place: Place) -> None:
    place.put(place.project, "threats")
    place.put(place.own, "threats")
    with pytest.raises(ConfigError, match=r"home/config/stages/threats\.py and \.agentforge/stages/threats\.py"):
        place.found()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("STAGE = (", "SyntaxError"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("import no_such_module", "ModuleNotFoundError"),
        ("x = 1", "holds no stage: STAGE is nothing"),
        ("STAGE = 'threats'", "holds no stage: STAGE is a str"),
        (_STAGE.format(name="other", body="{}"), "is called 'other'"),
        (_STAGE.format(name="threats", body="{}").replace('("spec",)', '"spec"'), "consumes is not a tuple of texts"),
        (_STAGE.format(name="threats", body="{}").replace('"P"', "3"), "prompt is not a text"),
        (_STAGE.format(name="threats", body="{}").replace("complete=complete", "complete=3"), "is not a function"),
        (_STAGE.format(name="threats", body="{}").replace("complete=", "takes_tests=True, complete="), "own stages"),
        (_STAGE.format(name="threats", body="{}").replace("contract: ", "contrat: "), "unknown key"),
    ],
)
def test_a_broken_file_is_an_error_that_names_it(place: Place, text: str, told: str) -> None:
    place.put(place.project, "threats", text)
    with pytest.raises(Exception, match=told) as error:
        place.found()
    assert "threats" in str(error.value)


@pytest.mark.parametrize(
    ("body", "told"),
    [("{}['x']", "KeyError"), ("None", "gave None"), ("{'x': {1, 2}}", "gave"), ("{'x': float('nan')}", "gave")],
)
def test_a_function_that_fails_or_gives_what_cannot_be_recorded_names_the_file(
    place: Place, body: str, told: str
) -> None:
    place.put(place.project, "threats", body=body)
    (one,) = place.found()
    with pytest.raises(ToolchainError, match=told) as error:
        one.stage.complete(RunState(), {}, {})
    assert ".agentforge/stages/threats.py: complete" in str(error.value)


def test_a_package_takes_part_when_a_setting_names_it(place: Place) -> None:
    (place.repo / ".agentforge").mkdir()
    settings = place.repo / ".agentforge" / "config.toml"
    settings.write_text('[pipeline]\nstages = ["licences"]\n')
    with pytest.raises(ConfigError, match="no installed package brings a stage 'licences'"):
        place.found()


def test_the_stage_of_a_package_is_taken_with_its_contract_and_its_owner(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_licences.py").write_text(_STAGE.format(name="licences", body="{}"))
    installed = tmp_path / "acme_licences-1.2.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-licences\nVersion: 1.2\n")
    (installed / "entry_points.txt").write_text("[agentforge.stages]\nlicences = acme_licences:STAGE\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert place.found() == ()
    (place.repo / ".agentforge").mkdir()
    (place.repo / ".agentforge" / "config.toml").write_text('[pipeline]\nstages = ["licences"]\n')
    (one,) = place.found()
    assert (one.stage.name, one.source) == ("licences", "acme-licences 1.2 (acme_licences:STAGE)")
    place.put(place.project, "licences")
    with pytest.raises(ConfigError, match=r"\.agentforge/stages/licences\.py and acme-licences 1\.2"):
        place.found()


def test_settings_may_speak_of_stages_that_a_file_brings_and_of_no_others(place: Place) -> None:
    place.put(place.project, "threats")
    settings = place.repo / ".agentforge" / "config.toml"
    settings.write_text('[stages.threats]\nmodel = "openai/gpt-4o"\n')
    assert load(place.repo, place.environ).text("stages.threats.model") == "openai/gpt-4o"
    settings.write_text('[stages.threts]\nmodel = "openai/gpt-4o"\n')
    with pytest.raises(ConfigError, match=r"config\.toml:1: unknown setting stages\.threts") as error:
        load(place.repo, place.environ)
    assert "did you mean stages.threats?" in error.value.hint
