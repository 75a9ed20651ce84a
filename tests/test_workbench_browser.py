"""The workbench in a real browser: by mouse and by keyboard, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from helpers.browser import open_browser, set_screen
from helpers.workbench import Workbench, until, workbench
from icvi_artmap import write_table

for needed in ("starlette", "uvicorn"):
    pytest.importorskip(needed, reason="the workbench needs pip install 'icvi-artmap[app]'")
pytest.importorskip("selenium.webdriver")

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

WIDE, NARROW, HEIGHT = 1300, 360, 900
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module", name="folder")
def folder_with_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    X, _ = make_blobs(240, centers=4, n_features=3, cluster_std=1.2, random_state=3)
    columns = {"number": np.arange(240) + 1, HOSTILE: X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    write_table(folder / "blobs.csv", {**columns, "half": np.arange(240) % 2})
    (folder / "broken.csv").write_text("a,b\n1,2\n3,4,5\n")
    return folder


@pytest.fixture(scope="module", name="server")
def running_workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    with workbench(tmp_path_factory.mktemp("private")) as found:
        yield found


@pytest.fixture(scope="module", name="browser")
def one_browser(tmp_path_factory: pytest.TempPathFactory, server: Workbench) -> Iterator[Any]:
    with open_browser(tmp_path_factory.mktemp("profile")) as driver:
        set_screen(driver, WIDE, HEIGHT, "light")
        driver.get(server.address)
        yield driver


def find(browser: Any, selector: str) -> Any:
    return browser.find_element(By.CSS_SELECTOR, selector)


def wait_for(browser: Any, selector: str) -> Any:
    return until(lambda: next(iter(browser.find_elements(By.CSS_SELECTOR, selector)), None))


def texts(browser: Any, selector: str) -> list[str]:
    return [found.text for found in browser.find_elements(By.CSS_SELECTOR, selector)]


def not_wider_than_the_screen(browser: Any, width: int) -> None:
    assert browser.execute_script("return document.documentElement.scrollWidth") == width
    over = browser.execute_script(
        "return [...document.querySelectorAll('main *')]"
        ".filter(e => !e.closest('.scroll, svg') && e.getClientRects().length)"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 0.5)"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert over == []


# --- the steps of one visit -----------------------------------------------------------------------


def a_broken_file_is_named(browser: Any, folder: Path) -> None:
    assert not find(browser, "#columns").is_displayed()
    find(browser, "#file").send_keys(str(folder / "broken.csv"))
    status = find(browser, "#file-status")
    until(lambda: "Line 3 of 'broken.csv' has 3 values" in status.text)
    assert not find(browser, "#settings").is_displayed()
    logged = [entry["message"] for entry in browser.get_log("browser")]
    assert len(logged) == 1  # the browser notes the status of the answer
    assert "422" in logged[0]


def columns_are_switched_by_keyboard(browser: Any, folder: Path) -> None:
    find(browser, "#file").send_keys(str(folder / "blobs.csv"))
    until(lambda: "240 rows" in find(browser, "#file-status").text)
    assert texts(browser, "#column-list tbody th") == ["number", HOSTILE, "b", "c", "half"]
    assert browser.find_elements(By.CSS_SELECTOR, "img") == []  # a name is text
    assert "two values only" in find(browser, "#column-list tbody tr:last-child").text
    used = find(browser, "#columns-used")
    assert used.text == "3 of 5 columns used."
    box = find(browser, "#use-3")
    box.send_keys(Keys.SPACE)
    assert used.text == "2 of 5 columns used."
    box.send_keys(Keys.SPACE)
    find(browser, "#columns-none").send_keys(Keys.ENTER)
    find(browser, "#run").click()
    until(lambda: "No column is switched on" in find(browser, "#form-message").text)
    browser.get_log("browser")  # of the refusal
    find(browser, "#columns-default").send_keys(Keys.ENTER)
    assert used.text == "3 of 5 columns used."


def a_fit_is_run_and_the_number_moved_along_the_path(browser: Any) -> None:
    find(browser, "#n-clusters").send_keys(Keys.ENTER)  # as in any form
    wait_for(browser, "#result-a .running:not([hidden])")
    wait_for(browser, "#result-a canvas")
    assert texts(browser, "#result-a .figures dd")[:3] == ["240", "3", "4"]
    legend = "#result-a .map-legend button"
    assert len(browser.find_elements(By.CSS_SELECTOR, legend)) == 4
    slider = find(browser, "#a-path")
    assert find(browser, "#result-a .path-k").text == "4"
    colours = "return document.querySelector('#a-points').toDataURL()"
    fitted = browser.execute_script(colours)
    slider.send_keys(Keys.ARROW_LEFT)
    assert find(browser, "#result-a .path-k").text == "3"  # at once: nothing is asked for
    assert len(browser.find_elements(By.CSS_SELECTOR, legend)) == 3
    assert browser.execute_script(colours) != fitted
    assert slider.get_attribute("aria-valuetext") == "3 clusters"
    assert find(browser, "#result-a .path-keep").text == "Fit 3 clusters"
    slider.send_keys(Keys.ARROW_RIGHT)
    assert browser.execute_script(colours) == fitted


def a_row_is_explained_by_click_and_by_name(browser: Any) -> None:
    canvas = find(browser, "#a-points")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    # Where the first point of the map lies.
    place = browser.execute_script(
        "const map = results.a.content.map; const canvas = arguments[0];"
        "const view = canvas.dataset.view.split(' ').map(Number);"
        "const box = canvas.dataset.box.split(' ').map(Number);"
        "const x = box[0] + (map.axes[0].values[7] - view[0]) / (view[1] - view[0]) * box[2];"
        "const y = box[1] + (view[3] - map.axes[1].values[7]) / (view[3] - view[2]) * box[3];"
        "return [x - canvas.clientWidth / 2, y - canvas.clientHeight / 2].map(Math.round)",
        canvas,
    )
    ActionChains(browser).move_to_element_with_offset(canvas, *place).click().perform()
    told = find(browser, "#result-a .explanation")
    until(lambda: told.text.startswith("Row "))
    clicked = find(browser, "#a-row").get_attribute("value")
    assert f"Row {clicked} is in cluster" in told.text
    field = find(browser, "#a-row")
    field.clear()
    field.send_keys("17", Keys.ENTER)
    until(lambda: told.text.startswith("Row 17 is in cluster"))
    field.clear()
    field.send_keys("none", Keys.ENTER)
    until(lambda: "There is no row 'none'. The first is '1'." in told.text)
    browser.get_log("browser")  # of the refusal


def two_settings_stand_side_by_side(browser: Any) -> None:
    number = find(browser, "#n-clusters")
    number.clear()
    number.send_keys("3")
    find(browser, "#index").send_keys("CH")
    find(browser, "#run-beside").send_keys(Keys.ENTER)
    wait_for(browser, "#result-b canvas")
    until(lambda: find(browser, "#agreement").text.startswith("Agreement of the two: 0."))
    assert texts(browser, "#comparison-table tbody tr:nth-child(2) td") == ["4", "3"]
    first, second = (find(browser, f"#result-{slot}").rect for slot in "ab")
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] <= second["x"]
    not_wider_than_the_screen(browser, WIDE)


def a_number_of_the_path_is_fitted_with_the_settings_of_its_result(browser: Any) -> None:
    slider = find(browser, "#a-path")
    slider.send_keys(Keys.ARROW_RIGHT)
    find(browser, "#result-a .path-keep").send_keys(Keys.ENTER)
    until(lambda: find(browser, "#result-a .told").text.startswith("5 clusters, NI, 3 columns"))
    assert texts(browser, "#result-a .figures dd")[2] == "5"
    assert not find(browser, "#result-a .path").is_displayed()  # nothing was chosen


def on_a_phone_all_is_there(browser: Any, theme: str) -> None:
    set_screen(browser, NARROW, HEIGHT, theme)
    browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    until(lambda: find(browser, "#a-points").size["width"] < NARROW)
    not_wider_than_the_screen(browser, NARROW)
    first, second = (find(browser, f"#result-{slot}").rect for slot in "ab")
    assert first["y"] + first["height"] <= second["y"]
    paper = browser.execute_script(
        "return [...document.querySelector('#a-points').getContext('2d')"
        ".getImageData(2, 2, 1, 1).data].slice(0, 3)"
    )
    assert (min(paper) > 200) == (theme == "light")
    for selector in ("#run", "#a-row", "#result-a .downloads button", "#result-b .remove"):
        assert find(browser, selector).is_displayed()
    set_screen(browser, WIDE, HEIGHT, "light")


def results_are_saved(browser: Any, tmp_path: Path) -> None:
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    find(browser, "#result-a .downloads [data-what='labels']").send_keys(Keys.ENTER)
    status = find(browser, "#result-a .download-status")
    until(lambda: status.text == "blobs-labels.csv is saved.")
    saved = tmp_path / "blobs-labels.csv"
    until(saved.exists)
    assert saved.read_text().startswith("row,cluster\n1,")


def a_visit_goes_on_after_the_page_is_loaded_again(browser: Any) -> None:
    browser.refresh()
    wait_for(browser, "#result-a canvas")
    wait_for(browser, "#result-b canvas")
    assert texts(browser, "#result-a .figures dd")[2] == "5"
    find(browser, "#result-b .remove").click()
    until(lambda: not find(browser, "#result-b").is_displayed())
    assert not find(browser, "#comparison").is_displayed()


def a_fit_is_stopped(browser: Any, folder: Path) -> None:
    X, _ = make_blobs(6000, centers=30, n_features=20, random_state=0)
    write_table(folder / "large.csv", {f"x{i}": column for i, column in enumerate(X.T)})
    find(browser, "#file").send_keys(str(folder / "large.csv"))
    until(lambda: "6,000 rows" in find(browser, "#file-status").text)
    assert not find(browser, "#result-a").is_displayed()  # it was about another file
    find(browser, "#n-clusters").clear()
    find(browser, "#run").click()
    until(lambda: find(browser, "#result-a .stop").is_displayed())
    find(browser, "#result-a .stop").click()
    until(lambda: find(browser, "#result-a .message").text == "Stopped.")
    assert find(browser, "#run").is_enabled()


def test_a_visit(browser: Any, folder: Path, tmp_path: Path) -> None:
    """Every step goes on where the one before has ended."""
    a_broken_file_is_named(browser, folder)
    columns_are_switched_by_keyboard(browser, folder)
    a_fit_is_run_and_the_number_moved_along_the_path(browser)
    a_row_is_explained_by_click_and_by_name(browser)
    two_settings_stand_side_by_side(browser)
    a_number_of_the_path_is_fitted_with_the_settings_of_its_result(browser)
    for theme in ("light", "dark"):
        on_a_phone_all_is_there(browser, theme)
    results_are_saved(browser, tmp_path)
    a_visit_goes_on_after_the_page_is_loaded_again(browser)
    a_fit_is_stopped(browser, folder)
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
