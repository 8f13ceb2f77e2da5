"""Pages as they run in a Space, and a real browser to look at them."""

import contextlib
import os
import runpy
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from helpers import MODULES, ROOT

import metrics

PAGES = [name for name in MODULES if (ROOT / name / "app.py").exists()]
BROWSER_ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE = 60


def find_browser():
    """The path of an installed chromium, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextlib.contextmanager
def open_browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=BROWSER_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def run_page(name, folder):
    """Runs a copy of the module's folder, called `app` as in a Space; gives its address and the seconds it took."""
    space = folder / "app"
    shutil.copytree(ROOT / name, space, ignore=shutil.ignore_patterns("__pycache__"))
    port = _free_port()
    environment = os.environ | {"GRADIO_SERVER_PORT": str(port), "HF_HUB_OFFLINE": "1"}
    url, started = f"http://127.0.0.1:{port}", time.perf_counter()
    log = (folder / "log").open("w+")
    process = subprocess.Popen([sys.executable, "app.py"], cwd=space, env=environment, stdout=log, stderr=log)
    try:
        _wait_for(url, process, log)
        yield url, time.perf_counter() - started
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)
        log.close()


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(url, process, log):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            urllib.request.urlopen(url, timeout=5).close()
            return
        time.sleep(0.05)
    log.seek(0)
    raise RuntimeError(f"the page does not answer:\n{log.read()[-2000:]}")


def read_page(name):
    """What app.py declares. Its `space` is the shared source here, so that several pages fit in one process."""
    outside = {key: sys.modules.pop(key) for key in list(sys.modules) if key.split(".")[0] == "space"}
    sys.modules["space"] = metrics
    try:
        return runpy.run_path(str(ROOT / name / "app.py"))["PAGE"]
    finally:
        for key in [key for key in sys.modules if key.split(".")[0] == "space"]:
            del sys.modules[key]
        sys.modules.update(outside)
