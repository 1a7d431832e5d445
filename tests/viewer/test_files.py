"""Pages without a browser: sliders, playback, films, addresses, ports; files of the viewer and what is missing."""

import freeflyer as ff
import numpy as np
import pytest
import socket
import sys
import time
import warnings
from closeness import fresh, refused
from contextlib import ExitStack, closing
from freeflyer.viewer import page as pages, recording, server
from freeflyer.viewer.motions import motion
from freeflyer.viewer.motors import sliders, value_of
from PIL import Image
from runs import batch, control_run, free_flight
from types import SimpleNamespace

pytest.importorskip("viser")


@pytest.fixture
def opened():
    """Opens pages and closes them at the end."""
    with ExitStack() as stack:
        yield lambda page: stack.enter_context(closing(page))


def drawn(page) -> dict[str, np.ndarray]:
    """Poses (4, 4) of the links that were sent to the browser, of the first robot."""
    found = {}
    for node, shape in zip(page._nodes.meshes, page._nodes.shapes):
        X = np.eye(4)
        X[:3, :3] = ff.spatial.quaternion.to_matrix(ff.spatial.quaternion.from_wxyz(node.batched_wxyzs[0].astype(float)))
        X[:3, 3] = node.batched_positions[0]
        found[shape.link] = X
    return found


@pytest.mark.parametrize("name", ["humanoid", "kangaroo_like", "space_manipulator"])
def test_a_moved_slider_moves_what_was_sent(name, opened):
    model, rng = ff.close_loops(ff.robots.make(name)), fresh("page", name)
    page = opened(ff.viewer.show(model, browser=False))
    assert page.url.startswith("http://127.0.0.1:")
    for slider in sliders(model)[-3:]:
        reason = page.move(slider.name, rng.uniform(max(slider.low, -1.0), min(slider.high, 1.0)))
        assert page._sliders[slider.name][1].value == pytest.approx(value_of(slider, page.q), abs=1e-12)
        assert reason == "" or reason.replace("_", "") in page._words.content.replace("\\", "").replace("_", "")
        for link, X in drawn(page).items():
            assert pytest.approx(ff.frame_pose(model, page.q, link), abs=1e-6) == X
    q = ff.random_configuration(model, rng)
    page.set(q)
    assert page.q == pytest.approx(q)
    for link, X in drawn(page).items():
        assert pytest.approx(ff.frame_pose(model, q, link), abs=2e-6) == X
    refused(ff.InputError, "slider", page.move, "no_such", 0.0)
    for value in (np.nan, "x", None):
        refused(ff.InputError, "value", page.move, slider.name, value)
    assert page.q == pytest.approx(q)
    assert slider.name in page.move(slider.name, 1e9)
    page.set(q)
    refused(ff.InputError, "", lambda: page.set(q[:-1]))
    assert page.snapshot(60, 40).shape == (40, 60, 3)
    assert "<object" in page._repr_html_()
    assert "data:image/png" in page._repr_html_()


def test_layers_are_sent_when_they_are_switched_on(opened):
    model = ff.robots.kangaroo_like()
    q = model.neutral.copy()
    q[model.joint(model.actuated[0]).iq] += 0.02
    page = opened(ff.viewer.show(model, q, layers=["loops", "frames", "inertias"], browser=False))
    nodes = page._nodes
    center, (green, red) = nodes.of_layer["com"][0], nodes.of_layer["loops"]
    assert not center.visible
    assert green.batched_scales.any()
    assert red.batched_scales.any()
    assert tuple(red.batched_colors) == (217, 38, 31)
    assert [len(x.batched_positions) for x in nodes.of_layer["frames"]] == [len(model.link_names)] * 3
    assert "close_loops" in page._words.content.replace("\\", "")
    nodes.show_layer("com", True)
    nodes.update(page._q)
    assert center.batched_positions[0] == pytest.approx(ff.center_of_mass(model, q), abs=1e-6)
    refused(ff.InputError, "layers", ff.viewer.show, model, layers=["ghosts"], browser=False)


def test_playback_goes_through_all_frames_in_time_and_stops_at_the_last(opened):
    page = opened(ff.viewer.play(control_run(), browser=False))
    assert page.frames == 7
    began = time.monotonic()
    page.play()
    while page.playing and time.monotonic() < began + 20.0:
        time.sleep(0.01)
    assert (page.frame, page.time) == (page.frames - 1, pytest.approx(0.1))
    assert time.monotonic() - began > 0.09
    for frame in (3, -5, 100):
        page.seek(frame)
        assert page.frame == min(max(frame, 0), 6)
        q = control_run().run.q[page._samples[page.frame]]
        for link, X in drawn(page).items():
            assert pytest.approx(ff.frame_pose(page.model, q, link), abs=1e-6) == X
    page.seek(3)
    for step, frame in (("+1", 4), ("-1", 3), ("last", 6), ("+1", 6), ("first", 0), ("-1", 0)):
        page._steps = SimpleNamespace(value=step)
        page._stepped(None)
        assert page.frame == frame
    page.seek(6)
    (arrows,) = page._nodes.of_layer["forces"]
    assert arrows.batched_scales[:, 2].sum() == pytest.approx(0.5 * page._nodes.size, rel=0.1)  # the weight


def test_one_of_several_robots_or_sixteen_beside_each_other(opened):
    run = batch()
    page = opened(ff.viewer.play(run, browser=False))
    page.choose([7])
    page.seek(page.frames + 5)
    assert page.frame == page.frames - 1
    for wrong in (np.nan, 1.5, "x"):
        refused(ff.InputError, "frame", page.seek, wrong)
    assert page.q == pytest.approx(run.q[-1, 7])
    page.choose(range(16))
    places = page._nodes.meshes[0].batched_positions
    assert len(places) == 16
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1) + 10.0 * np.eye(16)
    assert apart.min() > 0.5
    assert page._q == pytest.approx(run.q[-1, :16])
    for n in range(16):
        expected = ff.frame_pose(run.model, run.q[-1, n], page._nodes.shapes[0].link)[:3, 3] + page._nodes.offsets[n]
        assert places[n] == pytest.approx(expected, abs=1e-6)


def test_films_are_gifs_and_pages_that_need_nothing(tmp_path):
    run = control_run()
    ff.viewer.record(run, tmp_path / "run.gif", rate=20)
    film = Image.open(tmp_path / "run.gif")
    assert film.n_frames == 3
    durations = []
    for k in range(film.n_frames):
        film.seek(k)
        durations.append(film.info["duration"])
    assert durations[:2] == [50, 50]
    ff.viewer.record(batch(), tmp_path / "run.html", rate=10)
    text = (tmp_path / "run.html").read_text()
    assert "__VISER_EMBED_DATA__" in text
    refused(ff.FileError, "gif", lambda: ff.viewer.record(run, tmp_path / "run.mp4"))
    long = ff.sim.simulate(ff.robots.chain(1), [0.1], [0.0], dt=4e-3, duration=13.0)
    refused(ff.FileError, "more than 3000", lambda: ff.viewer.record(long, tmp_path / "long.gif", rate=240))


def test_a_gif_shows_the_postures_of_its_frames(monkeypatch):
    m = motion(free_flight())
    seen = []
    render = recording.render
    monkeypatch.setattr(recording, "render", lambda pieces, *rest: seen.append(pieces) or render(pieces, *rest))
    recording.gif(m, np.array([0, 20, 40]), (), size=40)
    for k, pieces in zip((0, 20, 40), seen):
        expected = recording.robot_pieces(m.model, m.q[k, 0])
        assert all(np.array_equal(a.mesh.vertices, b.mesh.vertices) for a, b in zip(pieces, expected))


def test_ports_and_addresses(opened):
    model = ff.robots.chain(1)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(ff.InputError, f"port {port} of 127.0.0.1 is taken", ff.viewer.show, model, port=port, browser=False)
    for host in ("no such host.invalid", 3, "203.0.113.7"):
        refused(ff.InputError, "host", ff.viewer.show, model, host=host, browser=False)
    for port in (-1, 2**16, "8080"):
        refused(ff.InputError, "port", ff.viewer.show, model, port=port, browser=False)
    first, second = (opened(ff.viewer.show(model, browser=False)) for _ in range(2))
    assert first.url != second.url
    with pytest.warns(UserWarning, match="whoever reaches this machine"):
        page = opened(ff.viewer.show(ff.robots.chain(1), host="0.0.0.0", browser=False))
    assert page.url.startswith("http://127.0.0.1:")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(ff.viewer.show(ff.robots.chain(1), host="localhost", browser=False))


def test_without_viser_the_sentence_helps(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "viser", None)
    for ask in (lambda: ff.viewer.show(ff.robots.chain(1)), lambda: ff.viewer.play(free_flight()),
                lambda: ff.viewer.record(free_flight(), tmp_path / "a.html")):  # fmt: skip
        refused(ff.errors.MissingExtraError, r'pip install "freeflyer\[viewer\]"', ask)
    ff.viewer.record(free_flight(), tmp_path / "a.gif", rate=5)  # needs none
    assert ff.viewer.picture(ff.robots.chain(1), width=20, height=20).shape == (20, 20, 3)


def test_whether_a_browser_was_found_is_said(monkeypatch, capsys, opened):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    page = opened(ff.viewer.show(ff.robots.chain(1)))
    if sys.platform == "linux":
        assert f"no browser was opened: give one the address {page.url}" in capsys.readouterr().out
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(server.webbrowser, "open", lambda url: url == page.url)
    assert pages.opened(page, True) == f"chain_1 is shown at {page.url}"


def test_notebooks_get_the_page_inline(monkeypatch, capsys, opened):
    monkeypatch.setitem(sys.modules, "IPython", type(sys)("IPython"))
    sys.modules["IPython"].get_ipython = lambda: SimpleNamespace(config={"IPKernelApp": {}})
    page = opened(ff.viewer.show(ff.robots.chain(1)))
    assert capsys.readouterr().out == ""
    assert page.url in page._repr_html_()


def test_notes_about_meshes_stand_on_the_page(robot_without_mesh, opened):
    page = opened(ff.viewer.show(ff.load(robot_without_mesh(5)), browser=False))
    assert "none.stl" in page._words.content.replace("\\", "")
    assert page.notes[-1] == "... and 2 more"


def save_html(path, **options):
    with closing(ff.viewer.show(ff.robots.chain(2), browser=False)) as page:
        page.save_html(path, **options)


WRITERS = {".png": lambda path, **options: ff.viewer.save_picture(ff.robots.chain(2), path, width=40, height=40, **options),
           ".html": save_html, ".gif": lambda path, **options: ff.viewer.record(batch(), path, rate=5, **options)}  # fmt: skip


@pytest.mark.parametrize("ending", WRITERS)
def test_files_of_other_endings_and_files_that_are_there_are_refused(ending, tmp_path):
    write, wrong = WRITERS[ending], tmp_path / "a.jpg"
    refused(ff.FileError, rf"must end in \{ending}", write, wrong)
    assert not wrong.exists()
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"mine")
    refused(ff.FileError, "overwrite=True", write, path)
    assert path.read_bytes() == b"mine"
    write(path, overwrite=True)
    assert len(path.read_bytes()) > 100


def test_pictures_warn_once_of_meshes_that_are_missing(robot_without_mesh, tmp_path):
    for draw in (ff.viewer.picture, lambda model: ff.viewer.save_picture(model, tmp_path / "a.png")):
        model = ff.load(robot_without_mesh())
        with pytest.warns(UserWarning, match="none.stl"):
            draw(model)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ff.viewer.picture(model, width=20, height=20)
            ff.viewer.record(free_flight(), tmp_path / "whole.gif", rate=5, overwrite=True)  # its shapes are all there
