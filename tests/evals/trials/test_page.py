"""The report as text, JSON value and page."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from agentforge.evals.trials.page import report_html
from agentforge.evals.trials.report import report_lines, report_value, row_line
from agentforge.evals.trials.results import TrialPlan, append, begin, load

if TYPE_CHECKING:
    from pathlib import Path

    from agentforge.evals.trials.results import Results


def _evaluation(folder: Path, *verdicts: str, digest: str = "d") -> Results:
    names = tuple("abc"[: len(verdicts)])
    plan = TrialPlan(
        name="<own>",
        digest=digest,
        models=("m/a",),
        tasks=names,
        at="2026-11-22T08:00:00Z",
        version="1",
        digests=dict.fromkeys(names, digest),
    )
    begin(folder, plan)
    for name, verdict in zip(names, verdicts, strict=True):
        stage = {"name": "green", "calls": 1, "prompt_tokens": 9, "completion_tokens": 1, "wall_s": 2.0, "cpu_s": 1.0}
        row: dict[str, Any] = {
            "task": name, "model": "m/a", "verdict": verdict, "action": "fix", "expected": "right", "examples": True,
            "lost_in": "" if verdict == "right" else "green", "why": "x < y & z", "calls": 1, "prompt_tokens": 9,
            "completion_tokens": 1, "wall_s": 2.0, "cpu_s": 1.0, "cost_usd": None, "stages": [stage], "run_id": "task-1",
            "folder": f"m-a/{name}",
        }  # fmt: skip
        append(folder, row)
    return load(folder)


def test_the_page_is_one_file_with_plots_and_a_link_to_every_trail(tmp_path: Path) -> None:
    before = _evaluation(tmp_path / "before", "wrong", "right")
    now = _evaluation(tmp_path / "now", "right", "right", "escalated")
    value = report_value(now, against=before)
    text = report_html(value, beside=tmp_path)
    assert 'href="now/m-a/c/repo/.agentforge/tasks/task-1"' in text
    assert text.count("<svg") == 3
    assert "x &lt; y &amp; z" in text and "&lt;own&gt;" in text
    assert "1 better, 0 worse, 1 the same of 2" in text
    assert not [
        word for word in ("<script", "http://", "https://") if word in text.replace("http://www.w3.org/2000/svg", "")
    ]
    for number in range(3):
        start = -1
        for _ in range(number + 1):
            start = text.index("<svg", start + 1)
        ElementTree.fromstring(text[start : text.index("</svg>", start) + 6])


def test_a_page_elsewhere_links_by_absolute_paths(tmp_path: Path) -> None:
    value = report_value(_evaluation(tmp_path / "now", "right"))
    assert f'href="file://{tmp_path}/now/m-a/a/repo/' in report_html(value, beside=PurePath("/somewhere"))


def test_lines_tell_intervals_losses_and_what_changed(tmp_path: Path) -> None:
    value = report_value(
        _evaluation(tmp_path / "now", "right", "wrong"), against=_evaluation(tmp_path / "old", "right", "right")
    )
    text = "\n".join(report_lines(value))
    assert "right 1 (50%, 9% to 91%), wrong 1 (50%, 9% to 91%)" in text
    assert "lost in green 1" in text and "- b: right -> wrong" in text and "price not known" in text
    assert not value["ok"]
    assert row_line(value["rows"][1], width=3) == "b    wrong     1 calls, 10 tokens, 2.0 s in green: x < y & z"


def test_a_comparison_says_which_tasks_were_changed(tmp_path: Path) -> None:
    before = _evaluation(tmp_path / "before", "right", digest="e")
    now = _evaluation(tmp_path / "now", "right", "right")
    value = report_value(now, against=before)
    assert value["against"]["changed"] == ["a"]
    assert "  changed in between: a" in report_lines(value)
