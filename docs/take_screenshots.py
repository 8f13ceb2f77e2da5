"""Takes the pictures of the pages: docs/<metric>.png, 1280 pixels wide. Needs chromium.

python docs/take_screenshots.py
python docs/take_screenshots.py kieval --scheme dark --width 390 --example 5 --folder .
"""

import argparse
import sys
import tempfile
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS.parent), str(DOCS.parent / "tests")]

from pages import PAGES, find_browser, open_browser, run_page  # noqa: E402

COLOURS = 256


def main():
    parser = argparse.ArgumentParser(description="Takes the pictures of the pages.")
    parser.add_argument("names", nargs="*", metavar="metric", help="all, when none is given")
    parser.add_argument("--scheme", choices=("light", "dark"), default="light")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--example", type=int, default=1, help="which example, from 1")
    parser.add_argument("--folder", type=Path, default=DOCS)
    given = parser.parse_args()
    if find_browser() is None:
        sys.exit("No browser: install chromium.")
    with open_browser() as browser:
        for name in given.names or PAGES:
            with tempfile.TemporaryDirectory() as folder, run_page(name, Path(folder)) as (url, _):
                path = given.folder / f"{name}.png"
                take(browser, url, path, given)
                shrink(path)


def take(browser, url, path, given):
    page = browser.new_page(viewport={"width": given.width, "height": 800}, color_scheme=given.scheme)
    page.goto(url)
    page.locator(".report").wait_for()
    page.locator("#prediction textarea").wait_for()
    page.get_by_text("Loading...").wait_for(state="hidden")
    if given.example > 1:
        code = page.locator("#prediction textarea").input_value()
        page.locator("#examples input").nth(given.example - 1).check()
        page.wait_for_function("old => document.querySelector('#prediction textarea').value != old", arg=code)
        page.wait_for_timeout(1000)
    page.screenshot(path=path, full_page=True, animations="disabled")
    page.close()


def shrink(path):
    """A page has few colours: a palette makes its picture small."""
    Image.open(path).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
