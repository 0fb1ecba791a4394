"""The report in a real browser: what runs in it, what it asks of the world, and that a record's text is only text."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.audit.conftest import record
from tests.parts import need

from paccf.audit.audit import Audit
from paccf.audit.run import Run
from paccf.audit.tables import NO_RECORD
from paccf.record.values import Candidate, Key, Outcome, Search
from paccf.report import figures
from paccf.report.page import html
from paccf.report.page.blocks import Arm, Case, Cases, Page, Section
from paccf.report.page.content import page

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)

# every one of these sets `window.harmed`, if it runs, or asks for something outside
HOSTILE = (
    "</script><script>window.harmed=1</script>",
    '<img src="https://example.invalid/x" onerror="window.harmed=1">',
    "<svg onload=window.harmed=1>",
    "javascript:window.harmed=1",
    '"><style>@import "https://example.invalid/s.css"</style>',
    "${window.harmed=1}`);window.harmed=1;//",
    "<!--<script>",
    "&lt;b&gt;\u202etxt.exe\x1b[31m\u2028",
)
ALL = " ".join(HOSTILE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need(CHROMIUM, "Chromium is not installed (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@dataclass
class Opened:
    """A page, what it wrote to the console, and what it asked of anybody."""

    tab: Tab
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    refused: list[str | None] = field(default_factory=list)  # why what was asked never left


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Opens a page's bytes from the disk, with no network, in a window of its own."""
    contexts = []

    def open_(content: bytes, **settings: Any) -> Opened:
        path = tmp_path / f"{len(contexts)}.html"
        path.write_bytes(content)
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, "offline": True, **settings})
        contexts.append(context)
        found = Opened(context.new_page())
        found.tab.on("console", lambda message: found.said.append(message.text))
        found.tab.on("pageerror", lambda error: found.said.append(str(error)))
        found.tab.on("dialog", lambda dialog: (found.said.append(dialog.message), dialog.dismiss()))
        found.tab.on("request", lambda request: found.asked.append(request.url))
        found.tab.on("requestfailed", lambda request: found.refused.append(request.failure))
        found.tab.goto(path.as_uri())
        found.tab.wait_for_selector("html[data-ready]")
        return found

    yield open_
    for context in contexts:
        context.close()


def outside(found: Opened) -> list[str]:
    """What was asked of anybody but the file itself; the data: of its own pictures is in the file."""
    return [url for url in found.asked[1:] if not url.startswith("data:image/svg+xml")]


def report(run: Run) -> bytes:
    return html(page(Audit(run, 0, 1, 2000, 2000)))


@pytest.fixture(scope="module")
def mini() -> bytes:
    """The report of the miniature record."""
    return report(record())


def everything_opened(tab: Tab) -> None:
    """Every table, every case, every outline and every origin."""
    tab.click("text=Open every table")
    for case in tab.query_selector_all(".choose button"):
        case.click()
        tab.eval_on_selector(".outline", "fold => { fold.open = true }")
        for _ in range(6):
            tab.eval_on_selector_all(".outline details:not([open])", "all => all.forEach(d => { d.open = true })")
            tab.wait_for_timeout(10)
        tab.focus(".arm.paccf canvas")
        for key in ("ArrowRight", "ArrowRight", "ArrowDown", "n", "l", "+", "0"):
            tab.keyboard.press(key)
    tab.eval_on_selector_all("details", "all => all.forEach(d => { d.open = true })")
    for more in tab.query_selector_all("button.more"):
        more.click()


def test_it_says_nothing_and_asks_nothing(opened: Callable[..., Opened], mini: bytes) -> None:
    for settings in ({}, {"color_scheme": "dark"}, {"viewport": {"width": 360, "height": 740}}):
        found = opened(mini, **settings)
        everything_opened(found.tab)
        assert found.said == []
        assert outside(found) == []
        text = found.tab.inner_text("body")
        assert "null" not in text
        assert "undefined" not in text
        assert "NaN" not in text
        assert "SIMULATED" in text
        wide = found.tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0, "nothing but the tables and figures scrolls sideways"
        assert found.tab.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")


def test_every_figure_and_table_says_where_it_comes_from(opened: Callable[..., Opened], mini: bytes) -> None:
    audit = Audit(record(), 0, 1, 2000, 2000)
    tab = opened(mini).tab
    everything_opened(tab)
    shown = tab.eval_on_selector_all(".picture", "all => all.map(f => [f.id, f.innerText])")
    assert {name for name, _ in shown} == {
        f"figure-{name}" for name in figures.names() if not figures.lacks(audit, name)
    }
    for name, text in shown:
        assert f"paccf figure RUN {name.removeprefix('figure-')}" in text
        assert "Counted over" in text
        assert "Pictures the table" in text
    for name, text in tab.eval_on_selector_all("details.table", "all => all.map(d => [d.id, d.innerText])"):
        assert name.removeprefix("table-") not in NO_RECORD
        assert f"paccf table RUN {name.removeprefix('table-')}" in text
    links = tab.eval_on_selector_all(".over a.traced", "all => all.map(a => a.hash)")
    assert len(links) == 7, "four figures by budget and three verdicts"
    assert tab.evaluate("hashes => hashes.every(h => document.querySelector(h))", links)


def test_what_it_saves_is_the_figures(opened: Callable[..., Opened], mini: bytes) -> None:
    tab = opened(mini).tab
    with tab.expect_download() as saving:
        tab.click("#table-bill_main >> text=CSV")
    text = Path(saving.value.path()).read_text()
    assert saving.value.suggested_filename == "bill_main.csv"
    assert "requests: evaluate" in text
    assert "SIMULATED" in text
    with tab.expect_download() as saving:
        tab.click("#table-bill_main >> text=JSON")
    assert json.loads(Path(saving.value.path()).read_text())["simulated"] is True
    with tab.expect_download() as saving:
        tab.click("#figure-bill >> text=SVG")
    assert Path(saving.value.path()).read_bytes().startswith(b"<?xml")


def hostile(search: Search) -> Search:
    """All texts that come from models, hostile; the bills and scores stay."""

    def changed(c: Candidate) -> Candidate:
        return replace(c, text=ALL + c.text)

    frontiers = [replace(f, candidates=tuple(map(changed, f.candidates))) for f in search.frontiers]
    return replace(search, frontiers=frontiers, outcome=replace(search.outcome, solution=ALL))


def named(key: Key) -> Key:
    return replace(key, task=ALL + key.task) if key.phase == "test" else key


def failing(outcome: Outcome) -> Outcome:
    return replace(outcome, failure=ALL if outcome.failure else "")


def test_text_of_tasks_models_and_settings_is_inert(opened: Callable[..., Opened]) -> None:
    run = record(hostile, failing, seed=named)
    spec = json.dumps({"about": ALL, ALL: [ALL]})
    run = replace(run, info=replace(run.info, name=ALL, model=ALL, spec=spec, versions={ALL: ALL}, caveats=(ALL,)))
    found = opened(report(run))
    everything_opened(found.tab)
    assert found.said == []
    assert outside(found) == []
    assert found.tab.evaluate("window.harmed === undefined")
    assert (
        found.tab.eval_on_selector_all(
            "#main script, #main iframe, #main style, #head script, [onerror], [onload]", "all => all.length"
        )
        == 0
    )
    text = found.tab.evaluate(
        "document.getElementById('head').textContent + document.getElementById('main').textContent"
    )
    for harm in HOSTILE[:-1]:
        assert harm in text, "it stands there as text"
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert ALL[:20] not in found.tab.evaluate("[...document.querySelectorAll('a')].map(a => a.href).join()")


def test_nothing_else_may_run_or_be_fetched(opened: Callable[..., Opened], mini: bytes) -> None:
    """What would have got in all the same is stopped by the page's policy."""
    found = opened(mini)
    found.tab.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.harmed = 1";
        document.body.append(script);
        const image = document.createElement("img");
        image.setAttribute("onerror", "window.harmed = 2");
        image.src = "https://example.invalid/x.png";
        document.body.append(image);
    }""")
    refused = found.tab.evaluate("fetch('https://example.invalid/').then(() => 'fetched', () => 'refused')")
    assert refused == "refused"
    assert found.tab.evaluate("window.harmed === undefined")
    assert sum("Content Security Policy" in said for said in found.said) >= 3
    assert len(outside(found)) == len(found.refused)
    assert set(found.refused) <= {"csp"}, "the policy, not the missing network"


def test_light_dark_and_paper(opened: Callable[..., Opened], mini: bytes) -> None:
    tab = opened(mini, color_scheme="dark").tab
    paper = "getComputedStyle(document.body).backgroundColor"
    shown = "[...document.images].filter(i => i.offsetWidth).map(i => i.className)"
    dark = tab.evaluate(paper)
    assert set(tab.evaluate(shown)) == {"dark"}
    tab.click("button.theme")
    assert tab.evaluate(paper) == "rgb(255, 255, 255)" != dark
    assert set(tab.evaluate(shown)) == {"light"}
    tab.click("button.theme")
    assert tab.evaluate(paper) == dark
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate(paper) == "rgb(255, 255, 255)"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate(paper) == dark
    assert tab.pdf().startswith(b"%PDF")


def large(nodes: int) -> Page:
    """A tree in which every node has up to four children; the arms differ at every tenth."""
    parents = tuple((i - 1) // 4 if i else -1 for i in range(nodes))
    texts = tuple(f"step {i}" for i in range(nodes))

    def arm(dropped: bool) -> Arm:
        states = tuple(3 if dropped and i % 10 == 9 else 1 for i in range(nodes))
        scores = tuple(float(i % 101) for i in range(nodes))
        return Arm("solved (solved)", (), "", (0, 1), states, scores, scores, (None,) * nodes, (nodes - 1,))

    labels = tuple(i % 100 == 99 for i in range(nodes))
    case = Case(
        "rescued", "large", "A large one", "20", "", "paccf show", parents, texts, labels, arm(False), arm(True)
    )
    return Page("large", "", (), "A large tree", "", (), (Section("answer", "The answer", (Cases((case,)),)),))


def test_ten_thousand_nodes(opened: Callable[..., Opened]) -> None:
    """All of them are on the canvases and in the outline, and the keyboard reaches them; how fast, the benchmark says."""
    found = opened(html(large(10_000)))
    tab = found.tab
    assert "Next difference (1000)" in tab.inner_text(".case")
    assert "Next lost solution (100)" in tab.inner_text(".case")
    tab.focus(".arm.native canvas")
    tab.keyboard.press("l")
    said = tab.inner_text(".focused")
    assert "step 99" in said
    assert "dropped: beyond the margin 20" in said
    assert "A solution can be reached from here." in said
    tab.keyboard.press("L")
    assert "step 9999" in tab.inner_text(".focused"), "round the end"
    before = painted(tab)
    for _ in range(12):
        tab.keyboard.press("+")
    tab.wait_for_timeout(50)
    assert painted(tab) != before
    tab.keyboard.press("0")
    tab.wait_for_timeout(50)
    assert tab.eval_on_selector_all(".outline > ul > li", "all => all.length") == 1
    assert found.said == []


def painted(tab: Tab) -> str:
    return str(tab.eval_on_selector(".arm.paccf canvas", "canvas => canvas.toDataURL()"))
