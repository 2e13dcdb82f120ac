"""Signed links answer one question, once, on this machine; and pages over what is gone say so."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from markupsafe import escape

from agentforge.config.paths import data_dir
from agentforge.dashboard.ground import Repository
from agentforge.events import kinds
from agentforge.notify.links import link_key, sign
from agentforge.store.log.reader import load_state
from tests.support.scene import HOSTILE, close, make_repository, serve, tell

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

    from tests.support.scene import Answer, Served

_GOLDEN = Path(__file__).parents[1] / "golden" / "whole-run"


def link(served: Served, name: str, *, expires_s: int = 60, repo: Path | None = None) -> str:
    home = served.repo.parent / "home"
    key = link_key(data_dir({"HOME": str(home), "AGENTFORGE_HOME": str(home / "af")}) / "links")
    address = f"task-20260101-{name}.E1"
    return sign(key, address=address, repo=str(repo or served.repo), expires=int(time.time()) + expires_s)


def asking(served: Served, name: str) -> Path:
    question = kinds.EscalationRaised(
        escalation_id="E1",
        stage="clarify",
        kind="question",
        reason=HOSTILE,
        question=f"{HOSTILE} which?",
        options=("red",),
    )
    return tell(served.repo, name, kinds.StageStarted(stage="clarify", attempt=1), question)


def sent(served: Served, token: str, *, origin: str = "", **fields: str) -> Answer:
    form = {"token": token, "decision": "answer", **fields}
    return served.ask("/answer", method="POST", form=form, as_program=False, origin=origin or served.base)


def test_a_link_answers_its_question_once_and_needs_no_token(served: Served) -> None:
    folder, token = asking(served, "linked"), link(served, "linked")
    page = served.ask(f"/answer?token={token}", as_program=False)
    assert (page.status, str(escape(f"{HOSTILE} which?")) in page.body, HOSTILE in page.body) == (200, True, False)
    assert served.token not in page.body
    assert sent(served, token, text="red", origin="http://elsewhere").status == 403
    assert sent(served, token, text=" ").status == 400
    assert "Thank you" in sent(served, token, text="red").body
    answer = load_state(folder).people.escalations["E1"].resolution
    assert answer is not None
    assert (answer.decision, answer.text, answer.by) == ("answer", "red", "ann, by a link")
    again = sent(served, token, text="blue")
    assert (again.status, "used already" in again.body) == (409, True)
    other = served.ask(f"/answer?token={link(served, 'linked')}", as_program=False)
    assert (other.status, "answered already, by ann" in other.body) == (409, True)


@pytest.mark.parametrize(
    ("changed", "said"),
    [("expired", "has expired"), ("forged", "not made here"), ("gone", "is not in"), ("nowhere", "is not in")],
)
def test_a_link_that_does_not_hold_says_why(served: Served, changed: str, said: str) -> None:
    asking(served, f"not-{changed}")
    expires_s = -1 if changed == "expired" else 60
    name = "never-was" if changed == "gone" else f"not-{changed}"
    token = link(served, name, expires_s=expires_s, repo=Path("/nowhere") if changed == "nowhere" else None)
    token = token[:-1] + ("0" if token[-1] != "0" else "1") if changed == "forged" else token
    page = served.ask(f"/answer?token={token}", as_program=False)
    assert (page.status, said in page.body) == (400, True), page.body


def test_a_link_works_under_the_names_of_this_machine_only(served: Served) -> None:
    asking(served, "far")
    page = served.ask(f"/answer?token={link(served, 'far')}", as_program=False, host="elsewhere.example")
    assert page.status == 421


def test_a_link_is_answered_in_a_browser(chromium: BrowserContext, served: Served) -> None:
    folder = asking(served, "clicked")
    chromium.clear_cookies()
    page = chromium.new_page()
    page.goto(f"{served.base}/answer?token={link(served, 'clicked')}")
    assert page.evaluate("window.broken") is None
    page.locator("input[type=checkbox]").uncheck()
    page.click("button:has-text('red')")
    page.wait_for_selector("h1:has-text('Thank you')")
    page.close()
    assert load_state(folder).people.open_escalations == ()


def test_what_is_gone_is_said_on_the_page(tmp_path: Path) -> None:
    here, gone = make_repository(tmp_path / "here"), make_repository(tmp_path / "gone")
    shutil.copytree(_GOLDEN, here / ".agentforge" / "tasks" / "task-20260101-whole")
    shutil.rmtree(here / ".agentforge" / "tasks" / "task-20260101-whole" / "blobs")
    tell(gone, "lost")
    registry = tmp_path / "home" / "af" / "repos.yaml"
    registry.parent.mkdir(parents=True)
    entries = [f"  - {{name: {path.name}, path: {path}}}\n" for path in (here, gone)]
    registry.write_text("repositories:\n" + "".join(entries))
    served = serve(here, tmp_path / "home")
    try:
        lost = f"/t/{Repository(name='', path=gone).key}/task-20260101-lost"
        assert served.ask(lost).status == 200
        gone.rename(tmp_path / "moved")
        page = served.ask(lost)
        assert (page.status, "repo add PATH --name gone" in page.body) == (404, True)
        assert "gone is not at" in served.ask("/").body
        for tab in ("", "artifacts", "changes", "verification", "steps", "trail"):
            assert served.ask(served.task("whole", tab)).status == 200, tab
        step = served.ask(served.task("whole", "steps/1"))
        assert (step.status, "is missing in" in step.body, "ModelReplied" in step.body) == (200, True, True)
        registry.write_text("repositories:\n" + "".join(entries) + f"  - {{name: twice, path: {here}}}\n")
        broken = served.ask("/")
        assert (broken.status, "has two names: here and twice" in broken.body) == (200, True)
        assert "task-20260101-whole" in broken.body
    finally:
        assert "Traceback" not in close(served)
