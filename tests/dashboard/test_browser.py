"""The dashboard as a person meets it: a real Chromium, live pages, answers that drive real tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agentforge.events import kinds
from agentforge.store.log.run_log import RunLog
from tests.support.scene import HOSTILE, close, git, serve, tell
from tests.support.world import make_world

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

    from tests.support.scene import Served

_TABS = ("", "artifacts", "changes", "verification", "steps", "trail", "trail/3")
_WIDE, _PHONE = {"width": 1440, "height": 900}, {"width": 375, "height": 812}


@pytest.fixture
def page(chromium: BrowserContext, served: Served) -> Iterator[Page]:
    """A page that is logged in; complaints of the browser fail the test."""
    opened = chromium.new_page()
    said: list[str] = []
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("console", lambda message: said.append(message.text) if "Content Security" in message.text else None)
    _enter(opened, served)
    yield opened
    opened.close()
    assert said == []


def test_the_address_logs_in_and_leaves_no_token_behind(chromium: BrowserContext, served: Served) -> None:
    page = chromium.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.url} {request.headers.get('referer', '')}"))
    _enter(page, served)
    assert served.token not in page.url
    assert served.token not in page.content()
    assert not any(served.token in line for line in asked)
    assert page.evaluate("document.cookie") == ""
    page.close()


def test_a_link_into_the_dashboard_with_the_token_leads_there(chromium: BrowserContext, served: Served) -> None:
    page = chromium.new_page()
    page.goto(f"{served.base}{served.task('whole', 'steps')}#token={served.token}")
    page.wait_for_selector(".tabs [aria-current]:has-text('steps')")
    page.close()


def test_a_wrong_token_is_said(chromium: BrowserContext, served: Served) -> None:
    chromium.clear_cookies()
    page = chromium.new_page()
    page.goto(f"{served.base}/#token=wrong")
    page.wait_for_selector("#trouble:has-text('not the token')")
    page.fill("input[name=token]", served.token)
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Tasks')")
    page.close()


def test_hostile_texts_run_nothing_in_a_browser(page: Page, served: Served) -> None:
    for path in ("/", "/waiting", "/measures", *(served.task("hostile", tab) for tab in _TABS)):
        page.goto(f"{served.base}{path}")
        assert page.evaluate("window.broken") is None, path
    page.goto(f"{served.base}{served.task('hostile')}")
    assert HOSTILE in page.inner_text("h1")
    assert HOSTILE in page.inner_text(".question")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone_and_a_desk_and_can_be_read(page: Page, served: Served, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    for size in (_WIDE, _PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        for path in (
            "/",
            "/waiting",
            "/new",
            "/sessions",
            "/sessions/22222222-long",
            "/measures",
            served.task("changed", "changes"),
            *(served.task("whole", tab) for tab in _TABS),
            served.task("hostile"),
        ):
            page.goto(f"{served.base}{path}")
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], (path, size)
    assert page.evaluate(_CONTRAST, ["body", ".muted", ".top nav a", ".badge", "h1"]) >= 4.5
    page.set_viewport_size(_WIDE)  # type: ignore[arg-type]


def test_the_theme_is_chosen_and_kept(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    grounds = []
    for _ in range(3):
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.click("#theme")
    assert grounds == ["rgb(255, 255, 255)", "rgb(255, 255, 255)", "rgb(18, 22, 27)"]
    page.keyboard.press("t")
    page.keyboard.press("t")
    page.reload()
    assert page.inner_text("#theme") == "Dark"
    page.keyboard.press("t")


def test_the_keyboard_leads_everywhere(page: Page, served: Served) -> None:
    page.goto(served.base)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    first = page.evaluate("document.activeElement.getAttribute('href')")
    assert first == page.get_attribute(".row .open", "href")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{first}")
    page.goto(f"{served.base}{served.task('whole')}")
    page.keyboard.press("]")
    page.wait_for_url("**/artifacts")
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url("**/measures")
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    page.goto(served.base)
    page.keyboard.press("/")
    page.keyboard.type("jjk?t")
    assert page.input_value("#search") == "jjk?t"


def test_a_diff_stands_side_by_side_or_in_one_column(page: Page, served: Served) -> None:
    page.goto(f"{served.base}{served.task('changed', 'changes')}")
    old, new = page.locator("del.line").first, page.locator("ins.line").first

    def side_by_side() -> bool:
        left, right = old.bounding_box(), new.bounding_box()
        assert left is not None
        assert right is not None
        return left["y"] == right["y"] and left["x"] < right["x"]

    assert side_by_side()
    assert 'y = "<b>"' in page.locator("ins.line").nth(1).inner_text()
    assert page.locator("ins.line .h-k").count() > 0, "a new file is coloured"
    page.click("button:has-text('Unified')")
    assert not side_by_side()
    page.keyboard.press("d")
    assert side_by_side()
    page.set_viewport_size(_PHONE)  # type: ignore[arg-type]
    assert not side_by_side()
    page.set_viewport_size(_WIDE)  # type: ignore[arg-type]


def test_a_paused_task_says_why_and_has_buttons(page: Page, served: Served) -> None:
    page.goto(f"{served.base}{served.task('changed')}")
    standing = page.inner_text(".standing")
    assert "No key for the model" in standing
    assert page.locator(".standing button:has-text('Resume')").first.is_visible()
    page.click("summary:has-text('With another model')")
    assert page.is_visible(".standing input[name=model]")
    page.goto(f"{served.base}/waiting")
    card = page.locator("section.standing", has_text="No key for the model")
    assert card.get_by_role("button", name="Resume").is_visible()
    page.goto(f"{served.base}{served.task('changed')}")
    page.click(".stages summary:has-text('green')")
    assert page.is_visible(".stages td:has-text('I change it.')")


def test_a_page_changes_by_itself_and_keeps_what_is_being_written(page: Page, served: Served) -> None:
    folder = tell(served.repo, "moving", request="watch me", base_commit="b" * 40)
    page.goto(f"{served.base}{served.task('moving')}")
    page.wait_for_selector("#link:has-text('live')")
    with RunLog.open(folder, clock=lambda: "2026-01-01T11:00:00.000000Z") as log:
        log.append(kinds.StageStarted(stage="intake", attempt=1))
        page.wait_for_selector(".st-running:has-text('intake')")
        log.append(_question("E1", "Which name?"))
        page.wait_for_selector(".question:has-text('Which name?')")
        page.fill("textarea[name=text]", "half an ans")
        log.append(_question("E2", "And which colour?"))
        page.wait_for_selector(".log:has-text('And which colour?')")
    assert page.input_value("textarea[name=text]") == "half an ans"


def test_a_question_is_answered_by_a_button_and_the_answer_is_recorded(page: Page, served: Served) -> None:
    folder = tell(served.repo, "asking", kinds.StageStarted(stage="clarify", attempt=1), _question("E1", "Which one?"))
    page.goto(f"{served.base}/waiting")
    card = page.locator("section", has_text="Which one?")
    card.locator("input[type=checkbox]").uncheck()
    card.get_by_role("button", name="blue <b>").click()
    page.wait_for_url(f"**{served.task('asking')}")
    from agentforge.store.log.reader import load_state

    answer = load_state(folder).people.escalations["E1"].resolution
    assert answer is not None
    assert (answer.decision, answer.text, answer.by) == ("answer", "blue <b>", "ann")
    page.goto(f"{served.base}{served.task('asking')}")
    page.click("summary:has-text('Abort')")
    page.fill("input[name=reason]", "not <i>needed</i>")
    page.click("button:has-text('for good')")
    page.wait_for_selector(".badge.s-aborted")
    assert "not <i>needed</i>" in page.inner_text(".task-head")


def test_a_second_answer_is_refused_with_its_reason(page: Page, served: Served) -> None:
    folder = tell(served.repo, "twice", kinds.StageStarted(stage="clarify", attempt=1), _question("E1", "Which?"))
    page.goto(f"{served.base}{served.task('twice')}")
    page.fill("textarea[name=text]", "mine")
    with RunLog.open(folder, clock=lambda: "2026-01-01T11:00:00.000000Z") as log:
        log.append(kinds.EscalationResolved(escalation_id="E1", decision="answer", text="theirs"))
    page.click("button:has-text('Answer')")
    page.wait_for_selector("h1:has-text('did not work')")
    assert "answered already" in page.inner_text("main")


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory, pycache: Path) -> Iterator[Served]:
    """A real task that waits for approval after its first and its second stage."""
    place = tmp_path_factory.mktemp("worked")
    world = make_world(place / "repo", place / "home", pycache=pycache)
    assert world.start(None, "--approve", "intake", "--approve", "clarify").code == 3
    git(world.repo, "status")
    found = serve(world.repo, world.home)
    yield found
    close(found)


def test_an_approval_drives_the_task_on_in_a_process_of_its_own(chromium: BrowserContext, worked: Served) -> None:
    page = chromium.new_page()
    _enter(page, worked)
    page.click(".row .open")
    page.wait_for_selector("article:has-text('Approve intake?')")
    assert "slugify(text) turns text" in page.inner_text("article .tree")
    page.click("button:has-text('Approve')")
    page.wait_for_selector("article:has-text('Approve clarify?')", timeout=60_000)
    page.click("button:has-text('Reject')")
    page.wait_for_selector("main:has-text('a rejection needs its reason')")
    page.close()


def _enter(page: Page, served: Served) -> None:
    page.goto(served.address)
    page.wait_for_selector("h1:has-text('Tasks')")


def _question(name: str, text: str) -> kinds.EscalationRaised:
    return kinds.EscalationRaised(
        escalation_id=name,
        stage="clarify",
        kind="question",
        reason="unclear",
        question=text,
        options=("red", "blue <b>"),
    )


_CONTRAST = """(selectors) => {
  const parts = (text) => text.match(/[0-9.]+/g).map(Number);
  const light = (text) => {
    const [r, g, b] = parts(text).map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (parts(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  return Math.min(...selectors.flatMap((name) => [...document.querySelectorAll(name)]).map((element) => {
    const [a, b] = [light(getComputedStyle(element).color), light(ground(element))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  }));
}"""
