"""The audit as files: four formats from one log, a PDF that is the same when it is made twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentforge.app.proof.audit import audit

GOLDEN = Path(__file__).parents[1] / "golden" / "whole-run"


@pytest.mark.parametrize(
    ("form", "start"), [("md", b"# Audit of task-"), ("html", b"<!doctype html>"), ("json", b"{\n")]
)
def test_every_format_is_made_from_the_log(form: str, start: bytes) -> None:
    assert audit(GOLDEN, form=form).startswith(start)  # type: ignore[arg-type] # one of them


def test_json_is_the_whole_audit() -> None:
    value = json.loads(audit(GOLDEN, form="json"))
    assert {
        "request",
        "questions",
        "trace",
        "verdicts",
        "measurements",
        "steps",
        "escalations",
        "digests",
    } <= value.keys()


def test_a_pdf_is_the_same_when_it_is_made_twice() -> None:
    pytest.importorskip("typst")
    first = audit(GOLDEN, form="pdf")
    assert first.startswith(b"%PDF-")
    assert audit(GOLDEN, form="pdf") == first


def test_hostile_text_does_not_reach_typst_as_source(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("typst")
    from agentforge.app.proof import audit as auditing
    from agentforge.events import kinds

    evil = '#panic("read") #include "/etc/passwd" #eval("1") $x$ *b* `c` <l> @r \\u{0} \u202e \ud800 ]#[ /* //'
    first = kinds.RunStarted(kind="task", run_id=evil, request=evil, repo="/r", base_commit="c", model=evil)
    last = kinds.RunFinished(outcome="failed", error={"slug": evil, "message": evil, "hint": evil})
    records = [("2026-01-01T10:00:00.000000Z", "h", event) for event in (first, last)]
    monkeypatch.setattr(auditing, "_records", lambda _folder: iter(records))
    assert audit(GOLDEN, form="pdf").startswith(b"%PDF-")
