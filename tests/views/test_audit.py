"""The audit is made from the log alone, and nothing that a model or a file says is ever read as markup."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agentforge.events import kinds
from agentforge.store.log.reader import read
from agentforge.views.audit import Recorded, audit_value
from agentforge.views.audit_blocks import visible
from agentforge.views.audit_document import audit_document
from agentforge.views.audit_html import html_of
from agentforge.views.audit_md import markdown_of

GOLDEN = Path(__file__).parents[1] / "golden" / "whole-run"
HOSTILE = (
    "</td><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "`code` [link](javascript:alert(1)) ![i](http://evil.example/x) | cell | <b>",
    '#eval("panic()") #include "/etc/passwd" $x$ *b* _i_ \\ @ref <label> // */',
    "\u202etxt.exe\u2066 zero\u200bwidth \x1b[31m\x00",
    "\ud800 lone",
    "&lt;script&gt; ]]> --> {{ x }}",
)


class Elements(HTMLParser):
    """All tags and attributes of a page, and what it says."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.said = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.said += data


def records_of(folder: Path) -> list[Recorded]:
    return [(record.at, record.hash, record.event) for record in read(folder)]


def hostile_records(steps: int = 2) -> list[Recorded]:
    evil = "\n".join(HOSTILE)
    spec = {
        "title": evil, "description": evil, "symbols": [{"name": evil, "file": evil}], "files_to_modify": [evil],
        "requirements": [{"id": evil, "description": evil, "acceptance_criteria": [evil]}],
    }  # fmt: skip
    events: list[kinds.Event] = [
        kinds.RunStarted(kind="task", run_id=evil, request=evil, repo="/r", base_commit="c", model=evil, versions={evil: evil}),
        kinds.StageStarted(stage="spec", attempt=1),
        kinds.ArtifactSubmitted(stage="spec", attempt=1, draft=spec, by="harness"),
        kinds.FactsGathered(name="spec", attempt=1, facts={"controls": {"canary": evil}}, tree=evil),
        kinds.StageVerified(
            stage="spec", attempt=1, passed=True, contract=evil, contract_digest=evil, artifact=spec, artifact_digest="d",
            results=({"rule": evil, "passed": True, "message": evil, "path": evil, "measured": evil},),
        ),
        kinds.StagePassed(stage="spec", artifact_digest="d"),
        kinds.EscalationRaised(escalation_id="E1", stage="", kind="question", reason=evil, question=evil),
        kinds.EscalationResolved(escalation_id="E1", decision="answer", text=evil, by=evil),
        kinds.StageStarted(stage="green", attempt=1),
    ]  # fmt: skip
    for step in range(1, steps + 1):
        usage = {"prompt_tokens": 900 + step, "completion_tokens": 40, "cached_tokens": 0}
        events += [
            kinds.ModelCalled(step=step, stage="green", attempt=1, model=evil, request="a" * 64, context_tokens=900),
            kinds.ModelReplied(
                step=step, text=evil, tool_calls=(), finish="stop", usage=usage, model=evil, cost_usd=0.001
            ),
            kinds.ToolFinished(step=step, index=0, call_id="c", name="shell", status="error", summary=evil),
            kinds.StepFinished(step=step, stage="green", summary=evil),
        ]
    events.append(kinds.RunFinished(outcome="failed", error={"slug": evil, "message": evil, "hint": evil}))
    return [(f"2026-01-01T10:00:{number % 60:02d}.000000Z", "h", event) for number, event in enumerate(events)]


def test_the_same_log_gives_the_same_audit() -> None:
    assert json.dumps(audit_value(records_of(GOLDEN))) == json.dumps(audit_value(records_of(GOLDEN)))


def test_a_page_holds_what_the_run_holds() -> None:
    page = html_of(audit_document(audit_value(records_of(GOLDEN))))
    for words in ("Assumptions", "Requirement, test, changed lines", "Every step", "Escalations", "Digests", "<svg"):
        assert words in page


def test_a_page_is_one_file_without_scripts_and_without_anything_from_elsewhere() -> None:
    page = html_of(audit_document(audit_value(records_of(GOLDEN))))
    elements = Elements()
    elements.feed(page)
    assert not elements.tags & {"script", "link", "img", "iframe", "object", "a", "form", "base"}
    assert not elements.attributes & {"src", "href", "onerror", "onclick"}
    assert "default-src 'none'" in page


def test_hostile_text_is_shown_and_never_read() -> None:
    page = html_of(audit_document(audit_value(hostile_records())))
    elements = Elements()
    elements.feed(page)
    assert elements.tags <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "blockquote", "dl", "dt", "dd", "table",
        "colgroup", "col", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "svg", "rect", "polyline", "path", "text",
    }  # fmt: skip
    assert "onerror" not in elements.attributes
    assert "<script>alert(1)</script>" in elements.said
    page.encode("utf-8")


def test_markdown_shows_hostile_text_as_text() -> None:
    text = markdown_of(audit_document(audit_value(hostile_records())))
    assert "<script" not in text
    assert "<img" not in text
    assert "](javascript" not in text
    assert "![i](" not in text
    assert text.count("```") == 2
    text.encode("utf-8")


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200b", "\x1b", "\x00", "\ud800", "\ufeff"])
def test_what_cannot_be_seen_is_made_visible(sign: str) -> None:
    assert visible(f"a{sign}b") == f"a\\u{ord(sign):04x}b"


def test_every_step_has_its_row() -> None:
    value = audit_value(hostile_records(500))
    page = html_of(audit_document(value))
    assert page.count('<td class="verdict bad">error</td>') == 500
    assert page.count("<rect") == 500 + 1
