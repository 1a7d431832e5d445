"""A page in the browser with one robot: its posture, sliders, layers, and notes."""

from __future__ import annotations

import base64
import html
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.files import check_target, write_atomically
from freeflyer.model import WORLD, Model, choice, number, one_row, public
from freeflyer.plots.camera import Camera as Camera, camera_around
from freeflyer.plots.picture import default_posture, mesh_notes, picture as picture, png, save_picture as save_picture
from freeflyer.plots.scene import LAYERS, SHOWN, all_corners, floor_under, robot_pieces
from freeflyer.text import visible
from freeflyer.viewer.motors import PARTS, Slider, move, sliders, value_of
from freeflyer.viewer.nodes import Forces, RobotNodes, add_floor, set_camera
from freeflyer.viewer.server import LOOPBACK, address_of, in_notebook, open_browser, open_server, stop_server

NAMES = {"com": "centre of mass", "loops": "loops", "forces": "contact forces", "frames": "frames", "inertias": "inertias"}


class Viewer:
    """Page that shows a robot, or several; made by `show` and `play`.

    Attributes:
        url: Its address.
        model: The robot.
        camera: Camera of the first view."""

    def __init__(self, model: Model, q: np.ndarray, layers: Sequence[str], host: str, port: int | None,
                 feet: Sequence[Contact] = (), floor: float | None = None) -> None:  # fmt: skip
        for layer in layers:
            choice("layers", layer, LAYERS)
        self.model, self.layers, self.feet = model, tuple(layers), tuple(feet)
        self._lock, self._setting, self._closed = threading.RLock(), False, False
        self._server = open_server(host, port, visible(model.name, 40))
        self.url = address_of(self._server)
        try:
            self._fill(q[None], floor)
        except BaseException:
            stop_server(self._server)
            raise

    def _fill(self, q: np.ndarray, floor: float | None) -> None:
        offsets = np.zeros((1, 3))
        self._floor = (floor_under(self.model, robot_pieces(self.model, q[0])) or 0.0) if floor is None else floor
        self._nodes = RobotNodes(self._server, self.model, offsets, self.layers, self.feet, self._floor)
        self._q = q
        self._forces: Sequence[Forces] = ()
        self._nodes.update(q)
        self.look(offsets)
        add_floor(self._server, self._floor, self._nodes.size)
        self._server.gui.configure_theme(show_share_button=False, show_logo=False)
        self._server.gui.main_panel.dock_right()
        self._words = self._server.gui.add_markdown(" · ".join(_plain(x) for x in self.notes))
        with self._server.gui.add_folder("show", expand_by_default=False):
            for layer in LAYERS:
                box = self._server.gui.add_checkbox(NAMES[layer], layer in self.layers)
                box.on_update(lambda _, layer=layer, box=box: self._show_layer(layer, box.value))

    def look(self, offsets: np.ndarray) -> None:
        """Turns the cameras of all browsers to the robots at their offsets (n, 3), m."""
        corners = all_corners(robot_pieces(self.model, self._q[0]))
        self.camera = camera_around(np.vstack([corners + offsets.min(axis=0), corners + offsets.max(axis=0)]), aspect=1.2)
        set_camera(self._server.initial_camera, self.camera)
        for client in self._server.get_clients().values():
            set_camera(client.camera, self.camera)

    def _show_layer(self, layer: str, visible: bool) -> None:
        with self._lock:
            self._nodes.show_layer(layer, visible)
            self._nodes.update(self._q, self._forces)

    def say(self, words: str) -> None:
        """Shows a sentence on the page."""
        self._words.content = _plain(words)

    @property
    def notes(self) -> list[str]:
        """Sentences about meshes that are missing or broken."""
        return mesh_notes(self.model)

    @property
    def q(self) -> np.ndarray:
        """(nq,): the posture on the page, of the first robot."""
        return np.array(self._q[0])

    def snapshot(self, width: int = 640, height: int = 640, camera: Camera | None = None) -> np.ndarray:
        """Picture (height, width, 3) of the page's posture, drawn without the browser."""
        return picture(self.model, self.q, width=width, height=height, layers=self.layers, camera=camera, feet=self.feet)

    def save_html(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes the scene as one HTML file that needs nothing else. Errors: FileError for other endings, a file that is there."""
        check_target(path, (".html",), overwrite)
        write_atomically(path, self._server.get_scene_serializer().as_html(), overwrite)

    def wait(self) -> None:
        """Returns when Ctrl-C is pressed, the page closed."""
        try:
            while True:
                time.sleep(3600.0)
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Ends the page."""
        if not self._closed:
            self._closed = True
            stop_server(self._server)

    def __repr__(self) -> str:
        return f"Viewer of {self.model.name!r} at {self.url}"

    def _repr_html_(self) -> str:
        """The page inline; a still picture where no server answers, as in a notebook that was saved."""
        still = base64.b64encode(png(self.snapshot(400, 400))).decode()
        image = f'<img alt="{html.escape(self.model.name)}" src="data:image/png;base64,{still}">'
        return f'<object data="{self.url}" type="text/html" width="100%" height="480">{image}</object>'

    @contextmanager
    def _set_by_program(self) -> Iterator[None]:
        """Inside, changes of sliders are not events."""
        self._setting = True
        try:
            yield
        finally:
            self._setting = False


def _plain(text: str) -> str:
    """Text that markdown shows as it is."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+-!|~$&" else c for c in visible(text, 400))


class PosturePage(Viewer):
    """A page whose sliders move the robot; a closed linkage follows its motors. Made by `show`."""

    def __init__(self, model: Model, q: np.ndarray, layers: Sequence[str], host: str, port: int | None) -> None:
        super().__init__(model, q, layers, host, port)
        self._sliders: dict[str, tuple[Slider, Any]] = {}
        base = {s.name for s in sliders(model) if s.joint.parent == WORLD and s.joint.kind in PARTS}
        folders = {name: self._server.gui.add_folder("base" if name else "motors" if model.reduction else "joints",
                   expand_by_default=not name) for name in ((False, True) if base else (False,))}  # fmt: skip
        for slider in sliders(model):
            with folders[slider.name in base]:
                value = value_of(slider, q)
                low, high = min(slider.low, value), max(slider.high, value)
                handle = self._server.gui.add_slider(visible(slider.name, 40), low, high, max((high - low) / 1000.0, 1e-9), value)
                handle.on_update(lambda _, slider=slider, handle=handle: self._moved(slider, handle))
                self._sliders[slider.name] = slider, handle
        if model.loops and not model.reduction:
            self.say("Loops are open: freeflyer.close_loops(model) closes them, and motors move the linkage.")

    def _moved(self, slider: Slider, handle: Any) -> None:
        with self._lock:
            if not self._setting and abs(value_of(slider, self._q[0]) - handle.value) > 1e-12:
                self.move(slider.name, handle.value)

    def move(self, name: str, value: float) -> str:
        """Moves a slider, as a hand on the page would. Returns why the motion ended early, or "". Errors: InputError."""
        slider, handle = self._sliders[choice("slider", name, self._sliders)]
        value = number("value", value)
        with self._lock:
            found = move(self.model, self._q[0], slider, value)
            self._q = found.q[None]
            self._nodes.update(self._q)
            self.say(found.reason)
            reached = value_of(slider, found.q)
            if abs(handle.value - reached) > 1e-12:
                with self._set_by_program():
                    handle.value = reached
        return found.reason

    def set(self, q: ArrayLike) -> None:
        """Shows another posture (nq,). Errors: InputError."""
        posture = one_row(self.model, "q", q, "q")
        with self._lock, self._set_by_program():
            self._q = np.array(posture)[None]
            self._nodes.update(self._q)
            for slider, handle in self._sliders.values():
                handle.value = float(np.clip(value_of(slider, posture), handle.min, handle.max))


@public
def show(model: Model, q: ArrayLike | None = None, *, layers: Sequence[str] = SHOWN, host: str = LOOPBACK,
         port: int | None = None, browser: bool = True) -> PosturePage:  # fmt: skip
    """Page in the browser with a robot and a slider for each coordinate; of a closed robot for each motor, the linkage following.

    Args:
        q: (nq,) array; by default the posture in which the file draws the robot.
        layers: Things that are drawn beside the links: "com", "loops", "forces", "frames", "inertias".
        host: Address at which the page is served; another one than the loopback address lets other machines in, with a warning.
        port: By default the first that is free from 8080 on.
        browser: Whether a browser is opened; a notebook shows the page inline.
    Raises: MissingExtraError without viser. InputError for a port that is taken."""
    posture = default_posture(model) if q is None else one_row(model, "q", q, "q")
    page = PosturePage(model, np.array(posture), layers, host, port)
    tell(page, browser)
    return page


def opened(page: Viewer, browser: bool) -> str:
    """Sentence for the user: the address, and whether a browser shows it."""
    if browser and open_browser(page.url):
        return f"{page.model.name} is shown at {page.url}"
    return f"no browser was opened: give one the address {page.url}" if browser else f"{page.model.name} is at {page.url}"


def tell(page: Viewer, browser: bool) -> None:
    """Opens the browser and prints where the page is; not in notebooks, which show pages inline."""
    if browser and not in_notebook():
        print(opened(page, browser))
