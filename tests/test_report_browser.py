"""The report in a real browser: what is drawn, what is pointed at, and what stays text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_circles

from helpers.browser import open_browser, set_screen
from icvi_artmap import ICVIARTMAP, write_report
from icvi_artmap._support.colours import MARKERS, style
from icvi_artmap._support.wording import number
from icvi_artmap.report import page

SCRIPTS = Path(page.__file__).parent / "templates"
pytest.importorskip("selenium.webdriver")

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

WIDE, NARROW, HEIGHT = 1200, 360, 900
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "</script><b>bold</b>"]
#: Pixels of every colour, counted in a copy of the canvas.
COUNT = """
const canvas = document.getElementById('points');
const copy = new OffscreenCanvas(canvas.width, canvas.height);
const pen = copy.getContext('2d', {willReadFrequently: true});
pen.drawImage(canvas, 0, 0);
const {data} = pen.getImageData(0, 0, canvas.width, canvas.height);
const wanted = arguments[0].map(c => parseInt(c.slice(1), 16));
const counts = wanted.map(() => 0);
for (let i = 0; i < data.length; i += 4) {
  const at = wanted.indexOf((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  if (at >= 0) counts[at]++;
}
return counts;
"""


@cache
def fitted(k: int) -> tuple[ICVIARTMAP, np.ndarray]:
    """k clusters of 25 rows on a grid, and a third feature that follows from the two."""
    rng = np.random.default_rng(0)
    side = int(np.ceil(np.sqrt(k)))
    grid = np.column_stack([np.arange(k) % side * 12.0, np.arange(k) // side * 12.0])
    X = np.repeat(grid, 25, axis=0) + rng.normal(size=(25 * k, 2))
    X = np.column_stack([X, X.sum(axis=1) + rng.normal(size=25 * k)])
    start = np.column_stack([grid, grid.sum(axis=1)])
    model = ICVIARTMAP(k, index="CH", init=start, refine=False).fit(X)
    assert model.n_clusters_ == k
    return model, X


@pytest.fixture(scope="module", name="folder")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    model, X = fitted(4)
    write_report(folder / "four.html", model, X, ids=[f"sample {i}" for i in range(len(X))])
    write_report(
        folder / "hostile.html",
        model,
        X,
        feature_names=HOSTILE,
        ids=[HOSTILE[i % 3] * 4 for i in range(len(X))],
        truth=[HOSTILE[i % 3] for i in range(len(X))],
        title=HOSTILE[0] + "x" * 150,
        notes=HOSTILE,
        command=HOSTILE[2],
    )
    model, X = fitted(40)
    write_report(folder / "forty.html", model, X)
    line = np.concatenate([np.arange(30.0), 100.0 + np.arange(30.0)])[:, None]
    write_report(folder / "line.html", ICVIARTMAP(2, index="CH", random_state=0).fit(line), line)
    return folder


@pytest.fixture(scope="module", name="browser")
def one_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with open_browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(name="show")
def shown_page(browser: Any, folder: Path) -> Iterator[Any]:
    """Open a report, so wide and in such colours; at the end nothing may have gone wrong."""

    def show(name: str, width: int = WIDE, theme: str = "light") -> Any:
        set_screen(browser, width, HEIGHT, theme)
        browser.get((folder / name).as_uri())
        return browser

    browser.get_log("browser")
    yield show
    assert browser.get_log("browser") == []


def numbers(browser: Any, name: str) -> list[float]:
    text = browser.find_element(By.ID, "points").get_attribute(f"data-{name}")
    return [float(part) for part in text.split()]


def place_of(browser: Any, x: float, y: float) -> tuple[float, float]:
    """Where a point with these values is on the canvas."""
    x0, x1, y0, y1 = numbers(browser, "view")
    left, top, width, height = numbers(browser, "box")
    return left + (x - x0) / (x1 - x0) * width, top + (y1 - y) / (y1 - y0) * height


def offset(browser: Any, x: float, y: float) -> tuple[int, int]:
    """The same from the middle of the canvas, as selenium counts."""
    rect = browser.find_element(By.ID, "points").rect
    return round(x - rect["width"] / 2), round(y - rect["height"] / 2)


def point_at(browser: Any, x: float, y: float) -> None:
    canvas = browser.find_element(By.ID, "points")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    where = offset(browser, *place_of(browser, x, y))
    ActionChains(browser).move_to_element_with_offset(canvas, *where).perform()


def choose(browser: Any, select: str, name: str) -> None:
    found = browser.find_element(By.ID, select)
    (option,) = [o for o in found.find_elements(By.TAG_NAME, "option") if o.text == name]
    option.click()


def texts(browser: Any, selector: str) -> list[str]:
    return [cell.text for cell in browser.find_elements(By.CSS_SELECTOR, selector)]


@pytest.mark.parametrize(("name", "k"), [("four", 4), ("forty", 40), ("line", 2)])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_cluster_is_drawn_in_its_colour(show: Any, name: str, k: int, theme: str) -> None:
    browser = show(f"{name}.html", theme=theme)
    counts = browser.execute_script(COUNT, [style(i).colour for i in range(k)])
    assert min(counts) > 20
    assert len(browser.find_elements(By.CSS_SELECTOR, "#legend button")) == k


def test_components_are_ellipses_of_one_deviation(show: Any, folder: Path) -> None:
    X = make_circles(300, factor=0.4, noise=0.03, random_state=0)[0]
    model = ICVIARTMAP(2, shape="any", random_state=0).fit(X)
    html = write_report(folder / "rings.html", model, X).read_text(encoding="utf-8")
    without = re.sub(r'"pieces":\{.*?\}', '"pieces":null', html)
    assert without != html
    (folder / "plain.html").write_text(without, encoding="utf-8")
    white = {
        name: show(f"{name}.html").execute_script(COUNT, ["#FFFFFF"])[0]
        for name in ("rings", "plain")
    }
    browser = show("rings.html")
    x0, x1, y0, y1 = numbers(browser, "view")
    _, _, width, height = numbers(browser, "box")
    pixels = width / (x1 - x0) * height / (y1 - y0)
    area = np.pi * np.sqrt(np.linalg.det(model.components_.covariances)).sum() * pixels
    # Rows and grid lines cover a part of them.
    assert 0.3 * area < white["plain"] - white["rings"] < 1.1 * area


def test_rows_of_noise_are_drawn_and_can_be_pointed_at(show: Any, folder: Path) -> None:
    X = fitted(4)[1].copy()
    X[7] -= [8.0, 0.0, 0.0]
    model = ICVIARTMAP(4, index="CH", noise=True, random_state=0).fit(X)
    assert model.labels_[7] == -1
    write_report(folder / "noise.html", model, X)
    browser = show("noise.html")
    for select, axis in (("axis-x", "feature 0"), ("axis-y", "feature 1")):
        choose(browser, select, axis)
    point_at(browser, X[7, 0], X[7, 1])
    assert texts(browser, "#tip .tip-id") == ["Row 7"]
    assert texts(browser, "#tip .chip") == ["noise"]


def test_a_view_sets_both_axes(show: Any) -> None:
    browser = show("four.html")
    view = browser.find_element(By.ID, "view")
    names = ["principal components", "best separating directions", "own choice"]
    assert texts(browser, "#view option") == names
    assert view.get_attribute("value") == "0"

    def axes() -> list[str]:
        return [browser.find_element(By.ID, f"axis-{a}").get_attribute("value") for a in "xy"]

    whole = numbers(browser, "view")
    view.send_keys("best")  # by keyboard
    assert axes() == ["2", "3"]
    assert numbers(browser, "view") != whole
    choose(browser, "axis-y", "feature 1")
    assert view.get_attribute("value") == "-1"
    choose(browser, "view", "principal components")
    assert axes() == ["0", "1"]
    assert numbers(browser, "view") == whole


def test_pointing_at_a_row_shows_it(show: Any) -> None:
    browser = show("four.html")
    model, X = fitted(4)
    choose(browser, "axis-x", "feature 0")
    choose(browser, "axis-y", "feature 1")
    outermost = [int(X[:, 0].argmin()), int(X[:, 0].argmax()), int(X[:, 1].argmax())]
    tip = browser.find_element(By.ID, "tip")
    for row in outermost:  # nothing else lies as near
        point_at(browser, X[row, 0], X[row, 1])
        assert tip.is_displayed()
        lines = tip.text.splitlines()
        assert lines[0] == f"Row sample {row}"
        assert lines[1] == f"cluster {model.labels_[row]}"
        shown = dict(line.rsplit(" ", 1) for line in lines[2:])
        for f in range(3):
            value = float(shown[f"feature {f}"].replace("−", "-"))
            assert value == pytest.approx(X[row, f], rel=1e-5)
    x0, x1, _, y1 = numbers(browser, "view")
    point_at(browser, (x0 + x1) / 2, y1)  # the edge, where there is no row
    assert not tip.is_displayed()


def test_numbers_are_written_as_elsewhere(show: Any) -> None:
    """The script has the rule of ``wording`` once more."""
    section = (SCRIPTS / "numbers.js").read_text(encoding="utf-8")
    rng = np.random.default_rng(0)
    every = [
        0.0,
        1.0,
        -1.0,
        1234567.0,
        0.1,
        999.96,
        99999.5,
        1e7 + 0.5,
        1e15,
        1e22,
        1e-5,
        9.9996e-5,
    ]
    every += (rng.normal(size=300) * 10.0 ** rng.integers(-9, 12, 300)).tolist()
    every += [-value for value in every]
    for digits in (2, 4, 6):
        found = show("four.html").execute_script(
            f"{section}; return arguments[0].map((v) => number(v, arguments[1]))", every, digits
        )
        assert found == [number(value, digits) for value in every]


def test_every_mark_has_a_shape(show: Any) -> None:
    browser = show("forty.html")
    shapes = browser.execute_script(
        "return [...document.querySelectorAll('#legend svg')].map((svg) => {"
        "const shape = svg.firstChild;"
        "return shape.tagName + ' ' + (shape.getAttribute('points') || '').split(' ').length})"
    )
    assert shapes == [
        shape for shape in ("circle 1", "polygon 4", "polygon 3", "polygon 4") for _ in range(10)
    ]
    script = (SCRIPTS / "marks.js").read_text(encoding="utf-8")
    corners = script[script.index("const CORNERS = {") :]
    corners = corners[: corners.index("};")]
    names = re.findall(r'^  "?([^":]+)"?:', corners, re.MULTILINE)
    assert tuple(names) == MARKERS


def test_the_legend_hides_and_shows_clusters(show: Any) -> None:
    browser = show("four.html")
    colours = [style(i).colour for i in range(4)]
    before = browser.execute_script(COUNT, colours)
    button = browser.find_element(By.CSS_SELECTOR, "#legend button[data-cluster='2']")
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    hidden = browser.execute_script(COUNT, colours)
    assert button.get_attribute("aria-pressed") == "false"
    assert hidden[2] == 0
    assert [hidden[i] for i in (0, 1, 3)] == [before[i] for i in (0, 1, 3)]
    button.send_keys(Keys.ENTER)  # by keyboard
    assert browser.execute_script(COUNT, colours) == before
    browser.find_element(By.ID, "show-none").click()
    assert browser.execute_script(COUNT, colours) == [0, 0, 0, 0]
    browser.find_element(By.ID, "show-all").send_keys(Keys.SPACE)
    assert browser.execute_script(COUNT, colours) == before


def test_a_hidden_row_cannot_be_pointed_at(show: Any) -> None:
    browser = show("four.html")
    model, X = fitted(4)
    choose(browser, "axis-x", "feature 0")
    choose(browser, "axis-y", "feature 1")
    row = int(X[:, 0].argmin())
    legend = f"#legend button[data-cluster='{model.labels_[row]}']"
    browser.find_element(By.CSS_SELECTOR, legend).click()
    point_at(browser, X[row, 0], X[row, 1])
    assert not browser.find_element(By.ID, "tip").is_displayed()


def wheel(browser: Any, canvas: Any, amount: int) -> None:
    browser.execute_script(
        "const box = arguments[0].getBoundingClientRect();"
        "arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: arguments[1], bubbles: true,"
        " cancelable: true, clientX: box.left + 300, clientY: box.top + 200}))",
        canvas,
        amount,
    )


def test_wheel_drag_keys_and_buttons_change_the_view(show: Any) -> None:
    browser = show("four.html")
    canvas = browser.find_element(By.ID, "points")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    whole = numbers(browser, "view")

    def width() -> float:
        x0, x1, _, _ = numbers(browser, "view")
        return x1 - x0

    wheel(browser, canvas, -100)
    assert width() == pytest.approx(0.8 * (whole[1] - whole[0]))
    wheel(browser, canvas, 100)
    assert numbers(browser, "view") == whole
    # A rectangle from (200, 100) to (500, 300) becomes the view.
    left, top, across, down = numbers(browser, "box")
    ActionChains(browser).move_to_element_with_offset(
        canvas, *offset(browser, 200, 100)
    ).click_and_hold().move_by_offset(300, 200).release().perform()
    x0, x1, y0, y1 = numbers(browser, "view")
    scale = (whole[1] - whole[0]) / across
    assert x0 == pytest.approx(whole[0] + (200 - left) * scale, abs=1.5 * scale)
    assert x1 == pytest.approx(whole[0] + (500 - left) * scale, abs=1.5 * scale)
    scale = (whole[3] - whole[2]) / down
    assert y1 == pytest.approx(whole[3] - (100 - top) * scale, abs=1.5 * scale)
    assert y0 == pytest.approx(whole[3] - (300 - top) * scale, abs=1.5 * scale)
    ActionChains(browser).double_click(canvas).perform()
    assert numbers(browser, "view") == whole
    browser.find_element(By.ID, "zoom-in").click()
    assert width() == pytest.approx(0.7 * (whole[1] - whole[0]))
    browser.find_element(By.ID, "zoom-out").click()
    assert numbers(browser, "view") == pytest.approx(whole)
    canvas.send_keys("+", Keys.ARROW_RIGHT)
    view = numbers(browser, "view")
    assert view[1] - view[0] == pytest.approx(0.8 * (whole[1] - whole[0]))
    assert (view[0] + view[1]) / 2 > (whole[0] + whole[1]) / 2
    canvas.send_keys("0")
    assert numbers(browser, "view") == whole


def test_zoomed_in_points_are_where_they_belong(show: Any) -> None:
    browser = show("four.html")
    _, X = fitted(4)
    choose(browser, "axis-x", "feature 0")
    choose(browser, "axis-y", "feature 1")
    canvas = browser.find_element(By.ID, "points")
    for _ in range(3):
        wheel(browser, canvas, -100)
    x0, x1, y0, y1 = numbers(browser, "view")
    inside = np.flatnonzero((X[:, 0] > x0) & (X[:, 0] < x1) & (X[:, 1] > y0) & (X[:, 1] < y1))
    row = int(inside[X[inside, 1].argmax()])
    point_at(browser, X[row, 0], X[row, 1])
    assert f"Row sample {row}" in browser.find_element(By.ID, "tip").text


def test_tables_sort_by_their_heads(show: Any) -> None:
    browser = show("four.html")
    cells = "#uncertain-table tbody tr > :nth-child(4)"
    given = texts(browser, cells)
    head = browser.find_element(By.CSS_SELECTOR, "#uncertain-table thead th:nth-child(4)")
    button = head.find_element(By.TAG_NAME, "button")
    assert head.get_attribute("aria-sort") == "none"
    button.click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert texts(browser, cells) == given  # the least margin came first already
    button.send_keys(Keys.ENTER)
    assert head.get_attribute("aria-sort") == "descending"
    assert texts(browser, cells) == given[::-1]
    first = browser.find_element(By.CSS_SELECTOR, "#uncertain-table thead th:first-child")
    first.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "none"
    names = texts(browser, "#uncertain-table tbody tr > :first-child")
    assert names == sorted(names, key=lambda name: int(name.split()[-1]))  # 9 before 10


def test_an_uncertain_row_is_found_on_the_map(show: Any) -> None:
    browser = show("four.html")
    button = browser.find_element(By.CSS_SELECTOR, "#uncertain-table button.find")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    name = button.text
    button.click()
    tip = browser.find_element(By.ID, "tip")
    assert tip.text.splitlines()[0] == f"Row {name}"
    top = browser.execute_script("return arguments[0].getBoundingClientRect().top", tip)
    assert 0 < top < HEIGHT


def luminance(browser: Any, selector: str, what: str) -> float:
    colour = browser.execute_script(
        "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]",
        selector,
        what,
    )
    parts = np.array([float(p) for p in colour.split("(")[1].rstrip(")").split(",")[:3]]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_light_and_dark(show: Any, theme: str) -> None:
    browser = show("four.html", theme=theme)
    panel = browser.execute_script(
        "return [...document.getElementById('points').getContext('2d')"
        ".getImageData(2, 2, 1, 1).data].slice(0, 3)"
    )
    assert (min(panel) > 200) == (theme == "light")
    button = browser.find_element(By.ID, "theme")
    for now in (theme, "dark" if theme == "light" else "light"):
        paper = luminance(browser, "body", "backgroundColor")
        assert (paper > 0.5) == (now == "light")
        for selector in ("h1", ".hint", ".readings li", "thead th", "summary"):
            ink = luminance(browser, selector, "color")
            ground = luminance(browser, "section", "backgroundColor")
            bright, dim = max(ink, ground), min(ink, ground)
            assert (bright + 0.05) / (dim + 0.05) >= 4.5, selector
        button.click()


@pytest.mark.parametrize("name", ["four", "hostile", "forty", "line"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_page_is_never_wider_than_the_screen(show: Any, name: str, width: int) -> None:
    browser = show(f"{name}.html", width)
    browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    assert browser.execute_script("return document.documentElement.scrollWidth") == width
    over = browser.execute_script(
        "return [...document.querySelectorAll('main *')]"
        ".filter(e => !e.closest('.scroll, pre, svg') && e.getClientRects().length)"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 0.5)"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert over == []


def test_the_contents_stay_in_view_where_there_is_room(show: Any) -> None:
    browser = show("four.html")
    links = browser.find_elements(By.CSS_SELECTOR, "#contents a")
    browser.find_element(By.LINK_TEXT, "Stability").send_keys(Keys.ENTER)
    section = browser.find_element(By.ID, "stability")
    top = "return arguments[0].getBoundingClientRect().top"
    assert -1 <= browser.execute_script(top, section) < HEIGHT / 3
    assert all(0 <= browser.execute_script(top, link) < HEIGHT for link in links)
    current = "#contents a[aria-current]"
    browser.execute_script("dispatchEvent(new Event('scroll'))")
    assert texts(browser, current) == ["Stability"]
    browser.execute_script("scrollTo(0, 0); dispatchEvent(new Event('scroll'))")
    assert texts(browser, current) == ["In short"]
    left = max(link.rect["x"] + link.rect["width"] for link in links)
    assert left <= browser.find_element(By.ID, "short").rect["x"]
    browser = show("four.html", NARROW)  # else they stand above
    contents = browser.find_element(By.ID, "contents").rect
    assert contents["y"] + contents["height"] <= browser.find_element(By.ID, "short").rect["y"]


def test_wide_tables_tell_that_there_is_more(show: Any, folder: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 20)) + 4.0 * np.repeat(np.arange(3), 30)[:, None]
    names = [f"averageTemperature of_surface/{i}" for i in range(20)]
    model = ICVIARTMAP(3, index="CH", random_state=0).fit(X)
    write_report(folder / "wide.html", model, X, feature_names=names)
    for width in (WIDE, NARROW):
        browser = show("wide.html", width)
        box = browser.find_element(By.CSS_SELECTOR, ".scroll:has(#profile-table)")
        outer = box.find_element(By.XPATH, "..")

        def more(outer: Any = outer) -> list[str]:
            return sorted(set(outer.get_attribute("class").split()) - {"wide"})

        assert more() == ["more-right"]
        browser.execute_script("arguments[0].scrollLeft = 40", box)
        browser.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 50))")
        assert more() == ["more-left", "more-right"]
        browser.execute_script("arguments[0].scrollLeft = 1e6", box)
        browser.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 50))")
        assert more() == ["more-left"]
        # No part of a name between two places to break it is on two lines.
        broken = browser.execute_script(
            "const range = document.createRange(); const broken = [];"
            "for (const name of document.querySelectorAll('thead .name')) "
            "for (const part of name.childNodes) if (part.nodeType === 3) "
            "for (const word of part.textContent.matchAll(/\\S+/g)) {"
            " range.setStart(part, word.index); range.setEnd(part, word.index + word[0].length);"
            " if (range.getClientRects().length !== 1) broken.push(word[0]) }"
            "return broken"
        )
        assert broken == []


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_labels_of_charts_are_read_at_any_width(show: Any, width: int) -> None:
    browser = show("forty.html", width)
    for chart in browser.find_elements(By.CSS_SELECTOR, "svg.chart"):
        boxes = browser.execute_script(
            "return [...arguments[0].querySelectorAll('text.tick')]"
            ".filter((t) => t.getClientRects().length && !t.hasAttribute('transform'))"
            ".map((t) => { const b = t.getBoundingClientRect();"
            " return [b.left, b.top, b.right, b.bottom] })",
            chart,
        )
        assert len(boxes) > 4
        outer = chart.rect
        for i, (left, top, right, bottom) in enumerate(boxes):
            assert bottom - top > 11.0  # no smaller than small print
            assert left >= outer["x"] - 0.5
            assert right <= outer["x"] + outer["width"] + 8.0
            for other in boxes[:i]:
                apart = left >= other[2] or right <= other[0] or top >= other[3] - 2.0
                assert apart or bottom <= other[1] + 2.0


def test_names_stay_text(show: Any) -> None:
    browser = show("hostile.html")
    assert browser.execute_script("return document.scripts.length") == 2
    assert browser.find_elements(By.CSS_SELECTOR, "img, b") == []
    assert browser.find_element(By.TAG_NAME, "h1").text == HOSTILE[0] + "x" * 150
    assert texts(browser, "#notes li") == HOSTILE
    assert texts(browser, "#axis-x option")[4:-1] == HOSTILE
    _, X = fitted(4)
    choose(browser, "axis-x", HOSTILE[0])
    choose(browser, "axis-y", HOSTILE[1])
    row = int(X[:, 0].argmin())
    point_at(browser, X[row, 0], X[row, 1])
    tip = browser.find_element(By.ID, "tip")
    head = tip.find_element(By.CLASS_NAME, "tip-id")
    assert head.get_attribute("textContent") == f"Row {HOSTILE[row % 3] * 4}"
    assert tip.find_elements(By.CSS_SELECTOR, "script, img, b") == []


def test_a_foreign_script_would_not_run(show: Any, browser: Any) -> None:
    show("four.html")
    browser.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.foreign = 1';"
        "document.body.append(s);"
        "const i = new Image(); i.src = 'http://127.0.0.1:9/x.png'; document.body.append(i)"
    )
    assert browser.execute_script("return window.foreign === undefined")
    refused = [entry["message"] for entry in browser.get_log("browser")]
    assert len(refused) == 2
    assert all("Content Security Policy" in message for message in refused)


def test_one_feature_is_drawn_against_its_clusters(show: Any) -> None:
    browser = show("line.html")
    assert texts(browser, "#axis-x option") == ["feature 0", "cluster"]
    assert browser.find_element(By.ID, "axis-y").get_attribute("value") == "-1"
    assert numbers(browser, "view")[2:] == [-0.6, 1.6]


def test_print_is_light_and_whole(show: Any, browser: Any) -> None:
    show("four.html", theme="dark")
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert browser.execute_script("return document.documentElement.dataset.theme") == "light"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not browser.find_element(By.ID, "theme").is_displayed()
    assert browser.find_element(By.ID, "points").is_displayed()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert browser.execute_script("return document.documentElement.dataset.theme") is None
