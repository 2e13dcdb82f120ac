"""The page of metrics: targets, trend and every repository."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from agentforge.dashboard.page_templates import percent_text
from agentforge.dashboard.plots import trend_svg
from agentforge.events import kinds
from tests.support.scene import Served, close, make_repository, serve, tell

_PASSED = kinds.StageVerified(
    stage="intake",
    attempt=1,
    passed=True,
    contract="c",
    contract_digest="d",
    artifact={},
    artifact_digest="e",
    results=(),
)
_ASKED = kinds.EscalationRaised(escalation_id="E1", stage="intake", kind="question", reason="", question="Which?")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two repositories: one that keeps all targets, one whose only task has to ask."""
    place = tmp_path_factory.mktemp("measured")
    good, bad = (make_repository(place / name) for name in ("good", "bad"))
    done = kinds.RunFinished(outcome="delivered")
    tell(good, "one", _PASSED, done)
    tell(bad, "two", _PASSED, _ASKED, kinds.EscalationResolved(escalation_id="E1", decision="answer", text="x"), done)
    registry = place / "af" / "repos.yaml"
    registry.parent.mkdir()
    registry.write_text(f"repositories:\n  - {{name: good, path: {good}}}\n  - {{name: bad, path: {bad}}}\n")
    found = serve(good, place)
    yield found
    assert "Traceback" not in close(found)


def goals(body: str) -> dict[str, tuple[str, str]]:
    """Name -> (held, missed or "", value)."""
    rows = re.findall(r'<li class="(\w*)"><h2>([^<]+)</h2><p class="value">([^<]+)</p>', body)
    return {name: (kind, value) for kind, name, value in rows}


def test_all_repositories_are_measured_against_the_targets(measured: Served) -> None:
    body = measured.ask("/measures").body
    assert goals(body) == {
        "Repositories at once": ("", "2"),
        "Escalation rate": ("missed", "50.0 %"),
        "Pass rate": ("held", "100.0 %"),
        "Human time per task": ("held", "0 s"),
    }
    assert body.count('class="plot"') == 7
    assert all(
        f'class="open" href="/measures?repo={key}"' in body for key in re.findall(r'option value="(\w{10})"', body)
    )


def test_one_repository_is_measured_by_itself(measured: Served) -> None:
    assert goals(measured.ask(f"/measures?repo={measured.key}").body)["Escalation rate"] == ("held", "0.0 %")


def test_a_time_without_tasks_has_no_rates(measured: Served) -> None:
    body = measured.ask("/measures?days=30").body
    assert goals(body)["Pass rate"] == ("", "-")
    assert measured.ask("/measures?days=nonsense&repo=nowhere").status == 200


def test_a_week_without_a_number_is_a_gap_in_the_line() -> None:
    rows = [{"week": f"2026-W{week}", "rate": rate} for week, rate in ((40, 0.5), (41, None), (42, 0.25), (43, 0.2))]
    drawn = trend_svg("<rates>", rows, name="rate", shown=percent_text, target=0.05, whole=1.0)
    path = re.findall(r'class="line" d="([^"]*)"', drawn)[0]
    assert (path.count("M"), path.count("L"), drawn.count("<circle")) == (2, 1, 3)
    assert "target 5.0 %" in drawn
    assert "<rates>" not in drawn
