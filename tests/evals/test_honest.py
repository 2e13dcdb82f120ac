"""The honest corpus: it can be read, the page about it is current, and a sample of it is delivered without any refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agentforge.cli.commands.evaluation.suites import honest_lines
from agentforge.cli.output.terminal import Style
from agentforge.cli.startup.entry import run
from agentforge.errors import UsageError
from agentforge.evals.answers import script_of
from agentforge.evals.case import playable
from agentforge.evals.corpus import chosen_honest, honest_names, load_honest, load_own, twin_names
from agentforge.evals.corpus_pages import honest_page
from agentforge.evals.side_run import SideResult, run_side
from agentforge.evals.suites import honest_line, run_honest

if TYPE_CHECKING:
    from pathlib import Path

    from agentforge.evals.ground import EvalFixture

_SAMPLE = ("delete-public-name", "wildcard-equality", "pragma-no-cover", "types-only", "generator", "swallow-and-log")
_ACTIONS = {"create", "modify", "fix", "delete", "refactor"}


def test_the_corpus_is_large_and_every_case_can_be_read() -> None:
    cases = [load_own(name) for name in honest_names()]
    assert len(cases) >= 60
    assert {case.action for case in cases} == _ACTIONS
    assert all({"intake", "spec", "green"} <= script_of(case, "twin").keys() for case in cases)


def test_the_page_about_the_corpus_is_current(request: pytest.FixtureRequest) -> None:
    assert (request.config.rootpath / "docs" / "honest.md").read_text(encoding="utf-8") == honest_page(), (
        "run `make golden`"
    )


def test_twins_of_the_catalogue_are_played_when_they_are_asked_for() -> None:
    assert chosen_honest((), twins=False) == honest_names()
    assert chosen_honest((), twins=True) == honest_names() + twin_names()
    assert chosen_honest(("twin:js-only", "repr"), twins=False) == ("twin:js-only", "repr")
    assert load_honest("twin:js-only").needs == "node"
    fine, lacking = playable([load_honest("twin:js-only"), load_honest("repr")])
    assert {*fine, *lacking} == {"twin:js-only", "repr"}  # the names by which they are loaded again


def test_a_case_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        chosen_honest(("lookup-tabel",), twins=False)
    assert caught.value.hint == "did you mean lookup-table?"


@pytest.mark.parametrize("name", _SAMPLE)
def test_honest_work_is_delivered_at_the_first_attempt(name: str, ground: EvalFixture) -> None:
    result = run_side(load_honest(name), "twin", ground)
    assert result.right, result.detail


def test_a_row_says_why_honest_work_was_refused() -> None:
    fine = SideResult(name="a", side="twin", right=True, outcome="delivered", duration_s=1.25)
    refused = SideResult(name="b", side="twin", right=False, outcome="escalated", stage="green", detail="no-deception")
    style = Style(colour=False, unicode=False)
    assert honest_lines(fine, width=2, style=style) == ["+ a   delivered  (1.2 s)"]
    assert honest_lines(refused, width=1, style=style) == [
        "x b  REFUSED (escalated, green)  (0.0 s)",
        "    no-deception",
    ]
    assert honest_line([fine, refused]) == "delivered at the first attempt 1/2"


def test_a_case_that_breaks_the_program_counts_as_refused(tmp_path: Path) -> None:
    (broken,) = run_honest(["there-is-no-such-case"], processes=1, folder=tmp_path)
    assert (broken.right, broken.outcome) == (False, "error")


def test_work_that_a_stage_refuses_first_is_refused_work(ground: EvalFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trick played as if it were honest: what the rules refuse is told, and it is no delivery."""
    case = load_honest("twin:untested-branch")
    monkeypatch.setattr(
        type(case), "answers", lambda self, _side: (self.base.below("answers"), self.files.below("trick"))
    )
    result = run_side(case, "twin", ground)
    assert not result.right
    assert "green was refused by" in result.detail and "nothing-untested" in result.detail


def test_an_unknown_case_is_a_usage_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "honest", "no-such-case-at-all"]) == 2
    assert "there is no honest case" in capfd.readouterr().err
