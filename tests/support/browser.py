# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium of a given width that opens pages from files and reaches no network."""

import base64
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webelement import WebElement

# Without what Chromium does over the network by itself.
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--force-prefers-reduced-motion"),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-quic",
        "--disable-dev-shm-usage",
    ),
    *("--disable-features=NetworkTimeServiceQuerying,OptimizationHints,MediaRouter", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
_PATIENCE = 240.0  # seconds; the host may be busy
SAVES = 8
"""Files that a page saves without asking; Chromium asks before the eleventh, until the page is opened again."""


class Browser:
    """What the tests of a page do with it. ``saved`` is the folder that downloads go to."""

    def __init__(self, driver: webdriver.Chrome, saved: Path) -> None:
        self.driver = driver
        self.saved = saved

    def open(self, page: Path, width: int, height: int = 900) -> None:
        """Open a page in a window of that size, in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.get(page.as_uri())

    def run(self, script: str, *arguments: object) -> Any:
        """What a script's ``return`` gives."""
        return self.driver.execute_script(script, *arguments)

    def all(self, selector: str) -> list[WebElement]:
        """The elements that a CSS selector matches."""
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> WebElement:
        """The first of them."""
        return self.driver.find_element("css selector", selector)

    def click(self, element: WebElement) -> None:
        """Press an element, wherever it is."""
        self.run("arguments[0].click()", element)

    def type(self, field: WebElement, text: str) -> None:
        """Put a text into a field, as if typed."""
        self.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))", field, text)

    def choose(self, select: WebElement, text: str) -> None:
        """Choose the option of that text."""
        script = (
            "const option = [...arguments[0].options].find((one) => one.textContent === arguments[1]);"
            "option.selected = true; arguments[0].dispatchEvent(new Event('change'))"
        )
        self.run(script, select, text)

    def download(self, element: WebElement, name: str) -> bytes:
        """Press an element and return the file ``name`` that it saves; see `SAVES`.

        Raises:
            TimeoutError: if there is no such file after some minutes.
        """
        path = self.saved / name
        path.unlink(missing_ok=True)
        self.click(element)
        # Chromium takes the name with an empty file, and then moves the whole one there.
        _wait(lambda: path.exists() and path.stat().st_size > 0, f"no file {name} was saved")
        return path.read_bytes()

    def faults(self) -> list[str]:
        """What axe-core finds against WCAG 2.1 A and AA and its own best practices, each with its elements."""
        self.run((files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8"))
        self.run("axe.run().then((found) => { window.axeFound = found; })")
        _wait(lambda: bool(self.run("return window.axeFound !== undefined")), "axe-core did not end")
        found = self.run("return window.axeFound")
        return [f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes']]}" for one in found["violations"]]

    def pdf(self, path: Path) -> list[str]:
        """Print the page to a file, in the size that it asks for; returns the text of each page, laid out."""
        printed = self.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
        path.write_bytes(base64.b64decode(printed["data"]))
        done = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True)
        return done.stdout.split("\f")[:-1]

    def picture(self, path: Path) -> None:
        """The whole page as a PNG file."""
        height = self.run("return document.documentElement.scrollHeight")
        width = self.run("return document.documentElement.clientWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        options = {"captureBeyondViewport": True, "clip": clip}
        path.write_bytes(base64.b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"]))


def _wait(there: Callable[[], bool], otherwise: str) -> None:
    end = time.monotonic() + _PATIENCE
    while not there():
        if time.monotonic() > end:
            raise TimeoutError(otherwise)
        time.sleep(0.2)


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser whose profile and downloads are in ``folder``; it ends with the body."""
    saved = folder / "saved"
    saved.mkdir(parents=True)
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or "chromedriver"))
    try:
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(saved)})
        yield Browser(driver, saved)
    finally:
        driver.quit()
