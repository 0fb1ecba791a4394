"""Pictures of a report's first screen and of a task's two trees, light and dark, as Chromium shows them.

    paccf run demo -o demo-out && paccf report demo-out
    python docs/pictures/report.py demo-out/report.html

writes report.png, report-dark.png, trees.png and trees-dark.png beside this file, with at most 256 colours. Ends with
an error if the page says anything on the console or asks for anything outside.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDTH, SCALE, COLOURS = 1240, 1.4, 256
HERE = Path(__file__).parent


def shots(browser: Browser, report: Path, dark: bool) -> None:
    context = browser.new_context(
        viewport={"width": WIDTH, "height": 1000}, device_scale_factor=SCALE, color_scheme="dark" if dark else "light"
    )
    tab = context.new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on(
        "request", lambda request: said.append(request.url) if not request.url.startswith(("file:", "data:")) else None
    )
    tab.goto(report.resolve().as_uri())
    tab.wait_for_selector("html[data-ready]")
    below = tab.evaluate("document.querySelector('.verdicts').getBoundingClientRect().bottom + 1")
    tab.wait_for_timeout(300)
    ending = "-dark" if dark else ""
    saved(f"report{ending}.png", tab.screenshot(clip={"x": 0, "y": 0, "width": WIDTH, "height": below}, full_page=True))
    top = tab.evaluate("scrollY + document.querySelector('.case').getBoundingClientRect().top - 12")
    end = tab.evaluate("scrollY + document.querySelector('.legend').getBoundingClientRect().bottom + 8")
    saved(
        f"trees{ending}.png",
        tab.screenshot(clip={"x": 0, "y": top, "width": WIDTH, "height": end - top}, full_page=True),
    )
    context.close()
    if said:
        sys.exit(f"the page said or asked: {said}")


def saved(name: str, png: bytes) -> None:
    found = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, kmeans=2, dither=Image.Dither.NONE)
    found.save(HERE / name, optimize=True)
    print(f"{name}: {(HERE / name).stat().st_size / 1000:.0f} kB, {found.width} x {found.height}")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    chromium = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for dark in (False, True):
            shots(browser, Path(sys.argv[1]), dark)


if __name__ == "__main__":
    main()
