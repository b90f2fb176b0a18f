"""The dashboard in a real browser: what it shows, what it never runs, and how it takes failures."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Error, Page, expect, sync_playwright

from sandbox_service.dashboard.snapshot import WorkerState
from sandbox_service.schema.job import QueueState
from sandbox_service.schema.result import Result
from tests.e2e.stub_service import StubService, make_figures, make_recent, make_snapshot
from tests.factories import make_result

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "</pre><svg onload=\"document.title='owned'\">&lt;b&gt;"
)
FLAGS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    chromium = shutil.which("chromium")
    if chromium is None:
        reason = "no chromium: apt-get install chromium"
        if "browser" in os.environ.get("SANDBOX_TEST_REQUIRE", "").split():
            pytest.fail(reason)
        pytest.skip(reason)
    profile: Path = tmp_path_factory.mktemp("chromium")
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=chromium, args=FLAGS
        )
        context.set_default_timeout(20_000)
        yield context
        context.close()


@pytest.fixture
def service() -> Iterator[StubService]:
    service = StubService()
    service.start()
    yield service
    service.stop()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page on which no script may fail and nothing may be refused by its policy."""
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console",
        lambda said: faults.append(said.text) if "Content Security" in said.text else None,
    )
    yield page
    page.close()
    assert faults == []


def show(service: StubService, *results: Result, **overrides: object) -> None:
    service.results = {result.id: result for result in results}
    recent = tuple(make_recent(result) for result in results)
    service.snapshot = make_snapshot(recent=recent, **overrides)


def printed(text: str, **overrides: object) -> Result:
    test = {"verdict": "wrong_answer", "stdout": text, "stderr": text, "exit_code": 0}
    return make_result(tests=[test | overrides], verdict="wrong_answer", reward=0.0, passed=0)


def open_page(page: Page, service: StubService) -> None:
    page.goto(f"{service.address}/dashboard")
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")


def test_page_of_an_idle_service_says_that_there_is_nothing_yet(page, service):
    open_page(page, service)
    expect(page.locator("#recent")).to_contain_text("Nothing was submitted yet")
    expect(page.locator("#verdicts")).to_contain_text("No results in this time.")
    expect(page.locator("body")).not_to_contain_text("null")
    expect(page.locator("body")).not_to_contain_text("NaN")


def test_figures_are_shown_and_follow_what_happens(page, service):
    lanes = (QueueState(name="train", depth=243, started=1, workers=2, oldest_s=1.5),)
    show(service, lanes=lanes, latest=make_figures(accepted=3, internal_error=1))
    open_page(page, service)

    expect(page.locator(".tile", has_text="Internal errors")).to_contain_text("25 %")
    expect(page.locator(".tile", has_text="Oldest")).to_contain_text("1.5 s")
    expect(page).to_have_title("243 waiting · sandbox-service")
    expect(page.locator("#depth polyline")).to_have_count(1)
    expect(page.locator("#rewards")).to_contain_text("none")
    show(service)
    expect(page).to_have_title("0 waiting · sandbox-service")


def test_span_of_the_figures_can_be_chosen(page, service):
    show(service, latest=make_figures(accepted=3), total=make_figures(accepted=70_000))
    open_page(page, service)
    page.get_by_role("button", name="All time").click()
    expect(page.locator("#verdicts")).to_contain_text("70,000")


def test_hostile_output_is_shown_as_text_and_runs_nothing(page, service):
    hostile = printed(HOSTILE, detail=HOSTILE, name=HOSTILE).model_copy(update={"detail": HOSTILE})
    show(service, hostile, workers=(WorkerState(name="w", lease_s=1.0, trouble=HOSTILE),))
    open_page(page, service)

    page.locator("#recent button").click()

    expect(page.locator("#detail pre").first).to_have_text(HOSTILE)
    expect(page.locator("#workers")).to_contain_text(HOSTILE)
    assert page.locator("#detail :is(img, script, svg, b)").count() == 0
    assert "owned" not in page.title()


def test_policy_forbids_html_made_of_text(page, service):
    open_page(page, service)
    with pytest.raises(Error, match="TrustedHTML"):
        page.evaluate("html => { document.body.innerHTML = html; }", HOSTILE)
    assert "owned" not in page.title()


def test_page_asks_nobody_but_the_service(page, service):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    show(service, printed("x"))
    open_page(page, service)
    page.locator("#recent button").click()
    expect(page.locator("#detail pre").first).to_have_text("x")

    assert len(asked) > 5
    assert all(url.startswith(service.address) for url in asked)


def test_submission_is_opened_and_closed_by_keyboard(page, service):
    show(service, printed("first"), printed("second").model_copy(update={"id": "two"}))
    open_page(page, service)
    expect(page.locator("#recent tbody tr")).to_have_count(2)

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for _ in range(3):  # the field, its button, the list
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    expect(page.locator("#detail-title")).to_have_text("two")
    expect(page.locator("#detail pre").first).to_have_text("second")
    page.keyboard.press("Escape")
    expect(page.locator("#detail")).to_be_hidden()
    expect(page.get_by_role("button", name="two")).to_be_focused()


def test_list_holds_still_while_somebody_is_in_it(page, service):
    show(service, printed("x"))
    open_page(page, service)
    page.get_by_role("button", name="one").focus()

    show(service, printed("y").model_copy(update={"id": "newer"}))

    expect(page.locator("#recent-note")).to_have_text("held while you are in it")
    expect(page.get_by_role("button", name="one")).to_be_focused()
    page.get_by_label("Open by id").focus()
    expect(page.locator("#recent")).to_contain_text("newer")


def test_submission_is_found_by_its_id(page, service):
    service.results = {"one": printed("x")}
    open_page(page, service)
    page.get_by_label("Open by id").fill("nobody")
    page.keyboard.press("Enter")
    expect(page.locator("#detail-body")).to_contain_text("no submission 'nobody'")
    page.keyboard.press("Escape")
    page.get_by_label("Open by id").fill("default/one")
    page.keyboard.press("Enter")
    expect(page.locator("#detail pre").first).to_have_text("x")


def test_lost_service_is_told_and_its_return_is_seen(page, service):
    show(service, printed("x"))
    open_page(page, service)
    service.stop()

    expect(page.locator("#connection")).to_have_attribute("data-state", "disconnected")
    expect(page.locator("#banner")).to_contain_text("No connection")
    expect(page.locator("#banner")).to_contain_text("Shown are figures of")
    expect(page.locator("body")).to_have_class("old")
    expect(page.locator("#recent tbody tr")).to_have_count(1)
    expect(page.get_by_role("button", name="Try now")).to_be_visible()
    service.start()

    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    expect(page.locator("#banner")).to_be_hidden()
    expect(page.locator("body")).not_to_have_class("old")


def test_service_that_falls_silent_makes_the_page_stale(page, service):
    show(service, period_s=0.2)
    open_page(page, service)
    service.is_silent = True
    expect(page.locator("#connection")).to_have_attribute("data-state", "stale")
    expect(page.locator("#banner")).to_contain_text("No news for")


def test_lost_redis_is_told_and_old_figures_stay(page, service):
    show(service, printed("x"))
    open_page(page, service)
    service.trouble = "Redis does not answer"
    expect(page.locator("#banner")).to_contain_text("Redis does not answer. Shown are figures of")
    expect(page.locator("#connection")).to_have_attribute("data-state", "stale")
    expect(page.locator("#recent tbody tr")).to_have_count(1)


def test_service_without_workers_is_told(page, service):
    lanes = (QueueState(name="train", depth=7, started=0, workers=0, oldest_s=60.0),)
    show(service, lanes=lanes, workers=(), worker_count=0)
    open_page(page, service)
    expect(page.locator("#banner")).to_have_text("No worker is alive; 7 submissions wait.")


def test_key_is_asked_for_and_kept_in_the_tab(page):
    service = StubService(key="secret")
    service.start()
    try:
        page.goto(f"{service.address}/dashboard")
        page.get_by_label("Key", exact=True).fill("wrong")
        page.keyboard.press("Enter")
        page.get_by_label("Key", exact=True).fill("secret")
        page.keyboard.press("Enter")
        expect(page.locator("#connection")).to_have_attribute("data-state", "live")
        assert "secret" not in page.url
        page.reload()
        expect(page.locator("#connection")).to_have_attribute("data-state", "live")
        page.get_by_role("button", name="Forget key").click()
        expect(page.locator("#key")).to_be_visible()
    finally:
        service.stop()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_follows_the_scheme_of_the_system(page, service, scheme):
    page.emulate_media(color_scheme=scheme)
    open_page(page, service)
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0]")
    assert (int(shade) > 128) is (scheme == "light")


def test_page_on_a_phone_is_no_wider_than_the_phone(page, service):
    show(service, *[printed("x").model_copy(update={"id": f"{n:064x}"}) for n in range(5)])
    page.set_viewport_size({"width": 360, "height": 740})
    open_page(page, service)
    expect(page.locator("#recent tbody tr")).to_have_count(5)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
