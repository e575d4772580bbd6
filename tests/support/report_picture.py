# SPDX-License-Identifier: BSD-3-Clause
"""`report_picture.py REPORT.html ANCHOR PICTURE.png`: a part of a report, from an anchor of it on, as the README shows it."""

import base64
import sys
import tempfile
from pathlib import Path

from browser import browser

WIDTH, HEIGHT = 1000, 1280  # CSS pixels


def main(report: str, anchor: str, picture: str) -> None:
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder)) as window:
        window.open(Path(report).resolve(), WIDTH)
        top = window.run("return document.getElementById(arguments[0]).getBoundingClientRect().top + scrollY", anchor)
        options = {"captureBeyondViewport": True, "clip": {"x": 0, "y": top, "width": WIDTH, "height": HEIGHT, "scale": 1}}
        Path(picture).write_bytes(base64.b64decode(window.driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
