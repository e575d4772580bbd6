# SPDX-License-Identifier: BSD-3-Clause
"""The report in a headless Chromium: wide, narrow, printed; what one can do with it; who can read it."""

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browser import FLAGS, SAVES, Browser, browser
from PIL import Image

from analysis.report import content, page
from analysis.report.data_files import csv_text, json_text
from analysis.report.series import load_runs

pytestmark = pytest.mark.browser
WIDTHS = (1400, 420)


@pytest.fixture(scope="module")
def report(runs: list[Path], compared: list[Path]) -> content.Report:
    """A microbenchmark with several kernels and numbers of cores, another, and an application on two kernels."""
    return page.content(load_runs([*runs, *compared]))


@pytest.fixture(scope="module")
def path(report: content.Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page.html(report), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.fixture
def wide(window: Browser, path: Path) -> Browser:
    window.open(path, 1400)
    return window


def column(window: Browser, table: str, heading: str) -> list[str]:
    """What one sees in a column of a table, from the top; rows that are hidden are left out."""
    script = """
        const box = document.getElementById(arguments[0]);
        const place = [...box.querySelectorAll('thead th')].findIndex((one) => one.textContent === arguments[1]);
        const rows = [...box.querySelectorAll('tbody tr')].filter((row) => row.offsetParent !== null);
        return rows.map((row) => row.cells[place].innerText.replace(/\\s+/g, ' ').trim());
    """
    return list(window.run(script, table, heading))


def press(window: Browser, table: str, heading: str) -> str:
    """Press a heading; returns how the table says that it is sorted now."""
    button = next(one for one in window.all(f"#{table} thead [role=button]") if one.get_attribute("textContent") == heading)
    window.click(button)
    return str(window.run("return arguments[0].closest('th').getAttribute('aria-sort')", button))


TABLE = "micro-open-close-table"
RATE = "opens/s/core"


def test_figures_sort_by_number_the_largest_first_then_the_other_way_then_as_they_were(wide: Browser) -> None:
    before = column(wide, TABLE, RATE)
    amounts = [float(text.replace(",", "")) for text in before]
    assert amounts not in (sorted(amounts), sorted(amounts, reverse=True))
    assert press(wide, TABLE, RATE) == "descending"
    assert column(wide, TABLE, RATE) == [text for _, text in sorted(zip(amounts, before, strict=True), reverse=True)]
    assert press(wide, TABLE, RATE) == "ascending"
    assert column(wide, TABLE, RATE) == [text for _, text in sorted(zip(amounts, before, strict=True))]
    assert press(wide, TABLE, RATE) == "None"
    assert column(wide, TABLE, RATE) == before


def test_rows_move_whole_and_texts_sort_with_their_numbers(wide: Browser) -> None:
    pairs = set(zip(column(wide, TABLE, "series"), column(wide, TABLE, RATE), strict=True))
    assert press(wide, TABLE, "series") == "ascending"
    found = column(wide, TABLE, "series")
    assert found == sorted(found, key=str.lower)
    assert set(zip(found, column(wide, TABLE, RATE), strict=True)) == pairs
    wide.run("document.getElementById('words').scrollIntoView()")
    press(wide, "words", "word")
    words = column(wide, "words", "word")
    assert words.index("attributed") < words.index("L3 hits") < words.index("unexplained")


def test_what_is_not_known_comes_last(wide: Browser) -> None:
    wide.run("document.querySelector('#words tbody td').dataset.v = ''")
    first = column(wide, "words", "meaning")[0]
    for _ in range(2):
        press(wide, "words", "meaning")
        assert column(wide, "words", "meaning")[-1] == first


def test_filter(wide: Browser) -> None:
    everything = column(wide, TABLE, "series")
    chosen = next(text for text in everything if "pk" in text)
    select = next(one for one in wide.all(f"#{TABLE} .tools select") if "series" in one.find_element("xpath", "..").text)
    option = chosen.partition(" iterations=")[0]
    wide.choose(select, option)
    assert column(wide, TABLE, "series") == [text for text in everything if text.startswith(option)]
    assert wide.one(f"#{TABLE} .count").text == f"1 of {len(everything)} rows"
    wide.choose(select, "all")
    assert column(wide, TABLE, "series") == everything
    assert wide.one(f"#{TABLE} .count").text == ""


def test_search_in_a_table(wide: Browser) -> None:
    everything = column(wide, "words", "meaning")
    names = dict(zip(everything, column(wide, "words", "word"), strict=True))
    field = wide.one("#words .tools input")
    wide.type(field, "SOCKET")
    found = column(wide, "words", "meaning")
    assert 0 < len(found) < len(everything)
    assert found == [meaning for meaning in everything if "socket" in f"{meaning} {names[meaning]}".lower()]
    wide.type(field, "no such word")
    assert column(wide, "words", "meaning") == []
    wide.type(field, "")
    assert column(wide, "words", "meaning") == everything


def test_search_in_all_tables(wide: Browser) -> None:
    wide.type(wide.one("#search input"), "exim:open-close")
    assert set(column(wide, "together-kernel-time", "application")) == {
        text for text in column(wide, "together-kernel-time", "application") if "exim" in text
    }
    assert column(wide, "words", "word") == []
    rows = wide.run("return [...document.querySelectorAll('.table:not(.heat) tbody tr')].filter((row) => !row.hidden).length")
    assert re.match(r"\d+ rows in \d+ tables", wide.one("#search .source").text)
    assert int(wide.one("#search .source").text.split()[0]) <= rows


def test_each_table_is_saved_as_csv(window: Browser, path: Path, report: content.Report) -> None:
    for place, table in enumerate(report.tables()):
        if place % SAVES == 0:
            window.open(path, 1400)
        link = window.one(f'a[download="{table.id}.csv"]')
        assert window.download(link, f"{table.id}.csv").decode() == csv_text(table)


def test_each_table_is_saved_as_json(window: Browser, path: Path, report: content.Report) -> None:
    for place, table in enumerate(report.tables()):
        if place % SAVES == 0:
            window.open(path, 1400)
        button = window.one(f'button[data-json="{table.id}.json"]')
        assert button.get_attribute("textContent") == f"JSON of {table.title}"
        assert json.loads(window.download(button, f"{table.id}.json")) == json.loads(json_text(table))


def test_two_kernels_beside_each_other(wide: Browser) -> None:
    table = "exim-open-close-diff-kernel-1"
    assert wide.one(f"#{table} h3").text.startswith("Two runs beside each other (linux-6.1 pk beside linux-6.1 stock)")
    assert column(wide, f"{table}-settings", "setting") == ["fixes"]
    assert set(column(wide, f"{table}-fields", "became")) == {"as before"}
    first = column(wide, f"{table}-fields", "field")
    press(wide, f"{table}-fields", "field")
    assert column(wide, f"{table}-fields", "field") == sorted(first, key=str.lower)


def test_each_figure_is_saved_as_svg_and_png(window: Browser, path: Path, report: content.Report) -> None:
    assert report.figures()
    for figure in report.figures():
        window.open(path, 1400)
        buttons = {one.text[:3]: one for one in window.all(f'[data-figure="{figure.id}"] button')}
        vector, pixels = buttons["SVG"], buttons["PNG"]
        saved = ElementTree.fromstring(window.download(vector, f"{figure.id}.svg"))
        drawn = ElementTree.fromstring(figure.draw())
        assert texts(saved) == texts(drawn) != []
        picture = Image.open(BytesIO(window.download(pixels, f"{figure.id}.png")))
        across, up = (float(part) for part in drawn.attrib["viewBox"].split()[2:])
        assert picture.size == (round(4 * across), round(4 * up))
        assert picture.getpixel((0, 0)) == (255, 255, 255, 255)
        assert len(picture.convert("RGB").getcolors(1 << 24) or ()) > 10, "the picture is empty"


def texts(svg: ElementTree.Element) -> list[str]:
    return [(one.text or "").strip() for one in svg.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(window: Browser, path: Path, width: int) -> None:
    window.open(path, width)
    assert window.run("return document.documentElement.scrollWidth") == width
    script = """
        const out = (one) => one.getBoundingClientRect().right > arguments[0] + 0.5;
        const found = [...document.querySelectorAll('main th, main td, main p, main svg, nav a, select, input')];
        return found.filter((one) => one.offsetParent !== null && out(one)).map((one) => one.outerHTML.slice(0, 200));
    """
    assert window.run(script, width) == []
    if width == max(WIDTHS):
        scrolls = "return [...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).length"
        assert window.run(scrolls) == 0


def test_what_is_too_wide_would_be_seen(window: Browser, path: Path) -> None:
    window.open(path, 420)
    window.run("document.querySelector('main p').style.width = '500px'")
    assert window.run("return document.documentElement.scrollWidth") > 420


@pytest.mark.parametrize("width", WIDTHS)
def test_text_can_be_read(window: Browser, path: Path, width: int) -> None:
    """No text is smaller than 8 CSS pixels in a figure or 9 elsewhere, and none is cut off."""
    window.open(path, width)
    script = """
        const small = [];
        for (const text of document.querySelectorAll('figure svg text')) {
          const scale = text.ownerSVGElement.getBoundingClientRect().width / text.ownerSVGElement.viewBox.baseVal.width;
          const size = parseFloat(getComputedStyle(text).fontSize) * scale;
          if (size < 8) small.push(`${size} ${text.textContent}`);
        }
        for (const one of document.querySelectorAll('main td, main th, main p, nav a')) {
          const size = parseFloat(getComputedStyle(one).fontSize);
          if (one.offsetParent !== null && size < 9) small.push(`${size} ${one.textContent}`);
        }
        return small;
    """
    assert window.run(script) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing(window: Browser, path: Path, width: int) -> None:
    window.open(path, width)
    assert window.faults() == []


def test_axe_finds_something_where_there_is_something(window: Browser, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text('<html><body><p style="color: #bbb">pale</p><img src="data:,"></body></html>')
    window.open(tmp_path / "bad.html", 1400)
    assert {fault.partition(":")[0] for fault in window.faults()} >= {"color-contrast", "image-alt", "html-has-lang"}


def test_every_table_and_figure_has_an_anchor_and_a_name(wide: Browser, report: content.Report) -> None:
    for identifier in [table.id for table in report.tables()] + [figure.id for figure in report.figures()]:
        assert wide.all(f"#{identifier}"), identifier
    assert wide.run(
        "return [...document.querySelectorAll('table')].every((one) => one.caption && one.querySelector('th[scope=col]'))"
    )
    for link in wide.all("nav a"):
        assert wide.all(str(wide.run("return arguments[0].hash", link))), link.text


def test_figures_have_their_values_in_a_table(wide: Browser, report: content.Report) -> None:
    for figure in report.figures():
        rows = len(wide.all(f"#{figure.values.id} tbody tr"))
        assert rows == len(figure.values.rows) > 0


def test_printed(wide: Browser, report: content.Report, tmp_path: Path) -> None:
    """Every heading and cell of every table is on a page, whole and within it; a figure is on one page."""
    pages = wide.pdf(tmp_path / "report.pdf")
    words = Counter(word for page in pages for word in page.split())
    shown = [table for chapter in report.chapters for section in chapter.sections for table in section.tables if table.shown]
    headings = Counter(word for table in shown for column in table.columns if column.shown for word in column.heading.split())
    assert not headings - words
    cells = [text for table in shown for row in table.cells() for column, _, text in row if column.format]
    assert len(cells) > 300
    assert not Counter(text for text in cells if re.fullmatch(r"[\d,.]+[kM]?", text)) - words
    done = subprocess.run(["pdftotext", "-bbox", tmp_path / "report.pdf", "-"], capture_output=True, text=True, check=True)
    boxes = re.findall(r'<page width="([\d.]+)"|<word xMin="([\d.]+)" yMin="[\d.]+" xMax="([\d.]+)"', done.stdout)
    across = 0.0
    for width, left, right in boxes:
        across = float(width) if width else across
        assert width or (float(left) > 20 and float(right) < across - 20), "a word in the margin of a page"
    assert any("+ a (pk)" in page and "stock" in page and "One fix after another" in page for page in pages)


def _requests(page: Path, profile: Path) -> set[str]:
    """What the page (not the browser on its own account) asked the network for."""
    log = profile.with_suffix(".net.json")
    command = [shutil.which("chromium") or "chromium", *FLAGS, f"--user-data-dir={profile}", f"--log-net-log={log}"]
    subprocess.run([*command, "--dump-dom", page.as_uri()], capture_output=True, timeout=240, check=True)
    events = [line for line in log.read_text(errors="replace").splitlines() if '"initiator":"not an origin"' not in line]
    found = [re.search(r'"initiator":.*"url":"(https?://[^"]*)"', line) for line in events]
    return {match[1] for match in found if match}


def test_the_page_asks_the_network_for_nothing(path: Path, tmp_path: Path) -> None:
    assert _requests(path, tmp_path / "profile") == set()


def test_a_request_to_outside_would_be_seen(tmp_path: Path) -> None:
    control = tmp_path / "control.html"
    control.write_text('<img src="http://outside.test/picture.png">')
    assert _requests(control, tmp_path / "profile") == {"http://outside.test/picture.png"}
