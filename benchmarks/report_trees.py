"""How long a frame of the report's two trees takes in Chromium while somebody points, zooms, drags and walks in them.

A frame is everything from one `requestAnimationFrame` to the next, painting included; an event arrives every second
frame. Chromium without a graphics card, so painting is the processor's. At 60 frames a second none is below 16.7 ms.

    python benchmarks/report_trees.py [--nodes N]          # with playwright and a Chromium
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.e2e.test_report_page import large

from measure import Table, emit
from paccf.report.page import html

FRAMES = 80
MEASURE = """async ([act, frames]) => {
  const canvas = document.querySelector(".arm canvas"), box = canvas.getBoundingClientRect();
  const pointer = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind,
    {pointerId: 1, pointerType: "mouse", clientX: box.left + x, clientY: box.top + y, bubbles: true}));
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  canvas.setPointerCapture = () => {};
  canvas.focus();
  const next = () => new Promise((done) => requestAnimationFrame(done));
  const does = {
    point: (i) => pointer("pointermove", 60 + 5 * (i % 90), 20 + 5 * (i % 90)),
    zoom: (i) => canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: i < frames / 2 ? -90 : 90,
      clientX: box.left + 200, clientY: box.top + 200, bubbles: true, cancelable: true})),
    drag: (i) => (i || (pointer("pointerdown", 300, 200)), pointer("pointermove", 300, 200 + 4 * (i % 40))),
    walk: (i) => press(["n", "ArrowDown", "l"][i % 3]),
  };
  if (act === "drag") for (let i = 0; i < 6; i++) press("+");
  const took = [];
  await next();
  for (let i = 0, then = performance.now(); i < frames; i++) {
    does[act](i); // asks for a frame of its own, which comes before the next two end
    await next();
    await next();
    const now = performance.now();
    took.push((now - then) / 2);
    then = now;
  }
  if (act === "drag") pointer("pointerup", 300, 200);
  press("0");
  took.sort((a, b) => a - b);
  return [0.5, 0.95].map((share) => took[Math.floor(share * (frames - 1))]);
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next((found for name in names if (found := shutil.which(name))), None)
    rows = []
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1280, "height": 1000})
        path = Path(folder) / "large.html"
        path.write_bytes(html(large(given.nodes)))
        tab.goto(path.as_uri())
        tab.wait_for_selector(".arm canvas")
        tab.wait_for_timeout(1000)
        for act in ("point", "zoom", "drag", "walk"):
            middle, late = tab.evaluate(MEASURE, [act, FRAMES])
            rows.append({"while they": act, "ms a frame": middle, "one in twenty takes": late})
        browser.close()
    emit(
        [Table(f"Two trees of {given.nodes:,} candidates", f"{FRAMES} events each, two frames an event", rows)],
        given.json,
    )


if __name__ == "__main__":
    main()
