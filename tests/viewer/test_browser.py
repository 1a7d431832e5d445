"""The page in a headless Chromium with software WebGL: links are where the library projects them; sliders, motors, playback."""

import freeflyer as ff
import numpy as np
import pytest
import time
from chromium import Page, needs_chromium
from contextlib import closing
from freeflyer.linkages.rows import constraint_residual
from freeflyer.plots.camera import Camera
from freeflyer.plots.scene import loop_lines
from freeflyer.viewer.nodes import set_camera
from runs import control_run

pytest.importorskip("viser")
pytestmark = [needs_chromium, pytest.mark.slow]
WIDTH, HEIGHT = 900, 700


@pytest.fixture(scope="module")
def browser():
    with closing(Page(WIDTH, HEIGHT)) as page:
        yield page


def open_page(browser, page) -> None:
    """Until the canvas shows more than one colour, and does not change any more."""
    browser.open(page.url)
    browser.wait(lambda: len(page._server.get_clients()) > 0, what="the page's connection")
    browser.wait(lambda: browser.run("document.querySelectorAll('canvas').length") or 0, what="the canvas")
    settle(browser)


def settle(browser) -> np.ndarray:
    """The picture once two in a row are the same."""
    end, before = time.monotonic() + 90.0, None
    while time.monotonic() < end:
        time.sleep(0.7)
        now = browser.picture()
        if before is not None and now[:, :500].std() > 3.0 and np.abs(now.astype(int) - before).max() < 3:
            return now
        before = now.astype(int)
    raise AssertionError("the page does not come to rest")


def canvas(browser) -> tuple[float, float, float, float]:
    """Left, top, width and height of the scene, pixels."""
    return tuple(browser.run(
        "(() => { const b = [...document.querySelectorAll('canvas')].sort((p, q) => q.width - p.width)[0].getBoundingClientRect();"
        " return [b.left, b.top, b.width, b.height]; })()"))  # fmt: skip


def place_camera(page, camera: Camera) -> None:
    for client in page._server.get_clients().values():
        set_camera(client.camera, camera)


def dark(image: np.ndarray) -> np.ndarray:
    """Where something with a colour is drawn: neither the white ground nor the grey of the floor and of shadows."""
    x = image.astype(int)
    return (x.max(axis=2) - x.min(axis=2)) > 60


def marker_robot() -> ff.Model:
    """Three small red balls on the links of a chain, given as visuals: what pixels are compared by."""
    ball = '<visual><geometry><sphere radius="0.03"/></geometry><material name="m"><color rgba="1 0 0 1"/></material></visual>'
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="{x}">{ball}{mass}</link>' for x in "abc")
    joints = "".join(
        f'<joint name="{p}{c}" type="revolute"><parent link="{p}"/><child link="{c}"/><origin xyz="0 0.1 0.4"/><axis xyz="1 0 0"/>'
        '<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>' for p, c in ("ab", "bc"))  # fmt: skip
    return f'<robot name="markers">{links}{joints}</robot>'


def middles(mask: np.ndarray, near: np.ndarray, radius: float) -> np.ndarray:
    """Mean place of the marked pixels within a radius of each point."""
    y, x = np.nonzero(mask)
    found = []
    for at in near:
        close = np.hypot(x + 0.5 - at[0], y + 0.5 - at[1]) < radius
        found.append([x[close].mean() + 0.5, y[close].mean() + 0.5] if close.sum() > 20 else [np.nan, np.nan])
    return np.array(found)


@pytest.fixture
def markers(tmp_path):
    (tmp_path / "m.urdf").write_text(marker_robot())
    model = ff.load(tmp_path / "m.urdf", base="fixed")
    with closing(ff.viewer.show(model, layers=[], browser=False)) as page:
        yield page


def expected(page, camera: Camera, box) -> np.ndarray:
    points = np.array([ff.frame_pose(page.model, page.q, link)[:3, 3] for link in "abc"])
    left, top, width, height = box
    return camera.project(points, width, height)[0] + [left, top]


def test_links_are_drawn_where_the_library_projects_them_and_a_slider_moves_them(browser, markers):
    open_page(browser, markers)
    camera = Camera(np.array([2.2, -0.6, 0.9]), np.array([0.0, 0.15, 0.35]), 0.7)
    place_camera(markers, camera)
    for angle in (0.0, 0.7):
        assert markers.move("ab", angle) == ""
        image, box = settle(browser), canvas(browser)
        wanted = expected(markers, camera, box)
        found = middles(dark(image), wanted, 40.0)
        assert np.abs(found - wanted).max() < 3.0, (found, wanted)
    here = (markers.url, markers.url.replace("http", "ws"), "data:", "blob:")
    assert not [url for url in browser.requests if not url.startswith(here)]
    assert not browser.errors


def test_a_slider_on_the_page_moves_the_robot(browser, markers):
    """A value typed into the slider's field, as a user would."""
    open_page(browser, markers)
    place = browser.run("(() => { const f = [...document.querySelectorAll('input')].filter(x => x.value === '0')"
        ".map(x => x.getBoundingClientRect())"
        ".filter(b => b.width > 20); return f.length ? [f[0].left + 10, f[0].top + 8] : null; })()")  # fmt: skip
    assert place, "no field of a slider"
    for _ in range(2):
        browser.click(*place)
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="a", code="KeyA", windowsVirtualKeyCode=65, modifiers=2,
                 commands=["selectAll"])  # fmt: skip
    browser.call("Input.insertText", text="0.5")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13)
    browser.wait(lambda: abs(markers.q[0] - 0.5) < 1e-6, what="the slider's event")


def test_a_motor_of_kangaroo_moves_the_closed_leg(browser, models_folder):
    model = ff.close_loops(ff.load(models_folder / "kangaroo" / "kangaroo.xml"))
    with closing(ff.viewer.show(model, browser=False)) as page:
        open_page(browser, page)
        before, gap = settle(browser), 0.0
        for value in np.linspace(0.0, 0.09, 40):
            assert page.move("leg_left_length_motor", value) == ""
            residual = constraint_residual(model.tree, page.q)
            gap = max(gap, float(np.abs(residual).max()))
            ends = loop_lines(model, page.q)[0][1::3]
            tied = [k for k, loop in enumerate(model.loops) if all(loop.mask[:3])]
            gap = max(gap, float(np.linalg.norm(ends[tied, 1] - ends[tied, 0], axis=1).max()))
        assert gap < 1e-6
        assert (np.abs(settle(browser).astype(int) - before).max(axis=2) > 30).sum() > 2000  # pixels
        assert "limit" in page.move("leg_left_length_motor", 0.15)
        browser.wait(lambda: "limit" in (browser.run("document.body.innerText") or ""), what="the reason")


def test_playback_reaches_its_last_frame_in_the_browser(browser):
    with closing(ff.viewer.play(control_run(), browser=False)) as page:
        open_page(browser, page)
        place = browser.run("(() => { const b = [...document.querySelectorAll('button')].find(x => x.innerText.trim() === 'play')"
                            ".getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()")  # fmt: skip
        browser.click(*place)
        browser.wait(lambda: page.frame == page.frames - 1 and not page.playing, what="the last frame")
        browser.wait(lambda: browser.run("[...document.querySelectorAll('input')].some(x => x.value === '0.1')"), what="the time")


def test_a_film_as_a_page_shows_the_robot_and_fetches_nothing(browser, tmp_path):
    ff.viewer.record(control_run(), tmp_path / "film.html", rate=10)
    browser.requests.clear()
    browser.open(f"file://{tmp_path}/film.html")
    browser.wait(lambda: browser.run("document.querySelectorAll('canvas').length") or 0, what="the canvas")
    browser.wait(lambda: browser.picture()[:600].std() > 3.0, what="the robot")
    assert all(url.startswith(("file://", "data:", "blob:")) for url in browser.requests), browser.requests
