"""Records a preview that is clicked through, as an animated PNG, when its page looks different.

    uv run --group pictures python docs/make_moving_picture.py

Takes an installed Chromium, else playwright's own (`playwright install chromium`).
"""

from io import BytesIO
from pathlib import Path
from shutil import which
from subprocess import PIPE, Popen

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
# An extension shows only what it brings.
PICTURES = (ROOT / "docs/images/browser-preview.png", ROOT / "editors/vscode/media/preview.png")
# The button, what its click brings, and for how many milliseconds that is shown.
SCENES = (
    ("#more-button", ".words:has-text('Text: ')", 2400),
    ("[data-id=reference-docs] .change", "[data-id=reference-docs] .badge:text('opened')", 4800),
)
POINTING = 1200
WIDTH, HEIGHT = 900, 470
CHROMIUM = next(filter(None, map(which, ("chromium", "chromium-headless-shell"))), None)
POINTER = """button => {
  const { x, y, width, height } = button.getBoundingClientRect();
  document.getElementById('pointer')?.remove();
  document.body.insertAdjacentHTML('beforeend', `<svg id="pointer" width="20" height="28" style="
    position: fixed; pointer-events: none; z-index: 9; left: ${x + width / 2}px;
    top: ${y + height / 2}px"><path d="M1 1v19l5-4 3 8 4-2-4-8h7z" fill="black" stroke="white"/>`);
}"""


def record(address: str) -> list[tuple[bytes, int]]:
    """Return pictures of a preview, each with its milliseconds."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        # The page's policy refuses the pointer's style.
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, bypass_csp=True)
        page.goto(address)
        page.wait_for_selector(SCENES[-1][0])
        frames = [(page.screenshot(), POINTING)]
        for button, result, milliseconds in SCENES:
            page.locator(button).evaluate(POINTER)
            page.hover(button)
            frames.append((page.screenshot(), POINTING))
            page.click(button)
            page.wait_for_selector(result)
            frames.append((page.screenshot(), milliseconds))
    return frames


def save(frames: list[tuple[bytes, int]]) -> None:
    # Stacked, so that all frames share one palette.
    column = Image.new("RGB", (WIDTH, HEIGHT * len(frames)))
    for number, (picture, _) in enumerate(frames):
        column.paste(Image.open(BytesIO(picture)), (0, HEIGHT * number))
    column = column.quantize(method=Image.Quantize.MAXCOVERAGE, kmeans=1)
    tops = range(0, column.height, HEIGHT)
    first, *rest = (column.crop((0, top, WIDTH, top + HEIGHT)) for top in tops)
    durations = [milliseconds for _, milliseconds in frames]
    for path in PICTURES:
        first.save(path, save_all=True, append_images=rest, duration=durations, loop=3)


if __name__ == "__main__":
    command = ("foldline", "preview", "reviewer_prompt.py", "--serve")
    with Popen(command, cwd=ROOT / "examples/code_reviewer", stdout=PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            save(record(server.stdout.readline().strip()))
        finally:
            server.terminate()
