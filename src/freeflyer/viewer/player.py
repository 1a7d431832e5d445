"""A page that plays a run: timeline, speed, steps, curves of chosen signals, one robot of several or sixteen side by side."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.model.inputs import MANY, whole_number
from freeflyer.model import Model, public
from freeflyer.plots.scene import SHOWN, robot_size
from freeflyer.plots.style import GREY, SERIES
from freeflyer.viewer.motions import FRAMES, Motion, floor_of, motion
from freeflyer.viewer.nodes import RobotNodes
from freeflyer.viewer.page import Viewer, tell
from freeflyer.viewer.server import LOOPBACK

SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5")
BESIDE = 16  # robots at most
TIMELINE = 15.0  # updates a second of the slider while it plays
POINTS, CURVES = 600, 6  # of a plot
NONE = "none"
COLOURS = (*SERIES, GREY)


def grid_offsets(count: int, spacing: float) -> np.ndarray:
    """Places (n, 3) of robots in rows, m."""
    side = int(np.ceil(np.sqrt(count)))
    k = np.arange(count)
    return np.column_stack([-spacing * (k // side), spacing * (k % side), 0.0 * k])


class RunPage(Viewer):
    """A page that plays a motion; made by `play`.

    Attributes:
        motion: The Motion that is played.
        frame, frames: Number of the frame on the page, and of all."""

    def __init__(self, motion: Motion, layers: Sequence[str], host: str, port: int | None, rate: float = FRAMES) -> None:
        self.motion, self._rate = motion, rate
        self._samples = motion.sampled(rate)
        self.frame, self.frames, self.sent = 0, len(self._samples), 0
        self._chosen: tuple[int, ...] = (0,)
        super().__init__(motion.model, motion.q[self._samples[0], 0], layers, host, port, motion.feet, floor_of(motion))
        self._playing = threading.Event()
        self._add_controls()
        self._draw()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _add_controls(self) -> None:
        gui, t = self._server.gui, self.motion.t
        begin, end = float(t[self._samples[0]]), float(t[self._samples[-1]])
        self._play = gui.add_button("play")
        self._play.on_click(lambda _: self.pause() if self._playing.is_set() else self.play())
        self._timeline = gui.add_slider("time (s)", begin, max(end, begin + 1e-9), max((end - begin) / 10000.0, 1e-9), begin)
        self._timeline.on_update(self._sought)
        self._steps = gui.add_button_group("step", ("first", "-1", "+1", "last"))
        self._steps.on_click(self._stepped)
        self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
        self._loop = gui.add_checkbox("repeat", False)
        count = self.motion.q.shape[1]
        self._robot: Any = None
        if count > 1:
            self._robot = gui.add_slider("robot", 0, count - 1, 1, 0)
            self._many = gui.add_checkbox(f"{min(count, BESIDE)} side by side", False)
            self._robot.on_update(lambda _: self._choose())
            self._many.on_update(lambda _: self._choose())
        self._plots: list[Any] = [None, None]
        self._areas, self._plotted = list[Any](), dict[int, str]()
        names = [f"{kind}: {name}" for kind, curves in self.motion.signals.items() for name in ("all", *curves)]
        for k, first in enumerate((names[0] if names else NONE, NONE)):
            self._areas.append(gui.add_folder(f"curve {k + 1}"))
            with self._areas[k]:
                chooser = gui.add_dropdown("of", (NONE, *names), initial_value=first)
            chooser.on_update(lambda _, k=k, chooser=chooser: self._plot(k, chooser.value))
            self._plot(k, first)

    def _plot(self, place: int, name: str) -> None:
        """A curve of the chosen robot beside the scene, or all of a kind: those that change most."""
        with self._lock:
            if self._plots[place] is not None:
                self._plots[place].remove()
                self._plots[place] = None
            self._plotted[place] = name
            if name == NONE:
                return
            kind, _, one = name.partition(": ")
            curves, n = self.motion.signals[kind], self._chosen[0]
            most = sorted(curves, key=lambda x: -float(np.ptp(np.nan_to_num(curves[x][:, n]))))[:CURVES]
            chosen = most if one == "all" else [one]
            at = np.unique(np.linspace(0, len(self.motion.t) - 1, POINTS).astype(int))
            series = [{"label": "t (s)"}, *({"label": x[:30], "stroke": c, "width": 1.5} for x, c in zip(chosen, COLOURS))]
            data = (self.motion.t[at], *(np.nan_to_num(np.asarray(curves[x][at, n], float)) for x in chosen))
            with self._areas[place]:
                self._plots[place] = self._server.gui.add_uplot(
                    data, tuple(series), title=kind, height=200, scales={"x": {"time": False, "auto": True}})

    def play(self) -> None:
        """Plays from the frame on the page; from the first one at the end."""
        if self.frame >= self.frames - 1:
            self.seek(0)
        self._playing.set()
        self._play.label = "pause"

    def pause(self) -> None:
        """Stays at the frame on the page."""
        self._playing.clear()
        self._play.label = "play"

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self._playing.is_set()

    @property
    def time(self) -> float:
        """Time of the frame on the page, s."""
        return float(self.motion.t[self._samples[self.frame]])

    def seek(self, frame: int) -> None:
        """Shows a frame, numbered from 0; the first or the last one for numbers outside. Errors: InputError."""
        chosen = whole_number("frame", frame, -MANY)
        with self._lock:
            self.frame = min(max(chosen, 0), self.frames - 1)
            self._draw()
            self._set_timeline()

    def _draw(self) -> None:
        self._q, self._forces = self.motion.at(int(self._samples[self.frame]), self._chosen)
        self._nodes.update(self._q, self._forces)
        self.sent += 1

    def _set_timeline(self) -> None:
        with self._set_by_program():
            self._timeline.value = self.time

    def _sought(self, event: Any) -> None:
        if event.client is not None and not self._setting:
            frame = int(np.abs(self.motion.t[self._samples] - self._timeline.value).argmin())
            with self._lock:
                self.pause()
                self.frame = frame
                self._draw()

    def _stepped(self, _: Any) -> None:
        self.pause()
        to = {"first": 0, "-1": self.frame - 1, "+1": self.frame + 1, "last": self.frames - 1}
        self.seek(to[self._steps.value])

    def _choose(self) -> None:
        """Another robot, or some beside each other, from the chosen one on."""
        count = self.motion.q.shape[1]
        many = min(count, BESIDE) if self._many.value else 1
        first = min(int(self._robot.value), count - many)
        self.choose(tuple(range(first, first + many)))

    def choose(self, robots: Sequence[int]) -> None:
        """Shows these robots of the run, side by side."""
        with self._lock:
            self._nodes.remove()
            self._chosen = tuple(robots)
            offsets = grid_offsets(len(self._chosen), 1.2 * robot_size(self.model))
            self._nodes = RobotNodes(self._server, self.model, offsets, self.layers, self.feet, self._floor)
            self._draw()
            self.look(offsets)
            for place, name in list(self._plotted.items()):
                self._plot(place, name)

    def _run(self) -> None:
        """Frames by the clock: where sending takes longer, frames are left out."""
        times = self.motion.t[self._samples]
        while not self._closed:
            if not self._playing.wait(0.1):
                continue
            begin, first, speed = time.perf_counter(), self.frame, self._speed.value
            shown = 0.0
            while self._playing.is_set() and not self._closed and self._speed.value == speed:
                due = times[first] + float(speed) * (time.perf_counter() - begin)
                frame = min(int(np.searchsorted(times, due + 1e-9, side="right")) - 1, self.frames - 1)
                if frame != self.frame:
                    with self._lock:
                        if not self._playing.is_set():
                            break
                        self.frame = frame
                        self._draw()
                    if time.perf_counter() - shown > 1.0 / TIMELINE:
                        shown = time.perf_counter()
                        self._set_timeline()
                if frame == self.frames - 1:
                    self._set_timeline()
                    if self._loop.value:
                        begin, first = time.perf_counter(), 0
                        continue
                    self.pause()
                wait = (times[min(self.frame + 1, self.frames - 1)] - times[first]) / float(speed) - (time.perf_counter() - begin)
                time.sleep(float(np.clip(wait, 0.0, 0.1)))

    def close(self) -> None:
        """Ends the page."""
        super().close()
        self._playing.clear()
        self._thread.join(timeout=2.0)


@public
def play(run: object, model: Model | None = None, *, feet: Sequence[Contact] | None = None, layers: Sequence[str] = SHOWN,
         host: str = LOOPBACK, port: int | None = None, browser: bool = True) -> RunPage:  # fmt: skip
    """Page that plays a run of any kind: timeline, speed, steps, curves, one robot of several or sixteen side by side.

    Args:
        run: Run of sim.simulate, sim.simulate_in_mujoco, control.run_scenario, hopping.hop, or a study of a swing.
        model: Robot of a run that was loaded from a file.
        feet: Contacts whose forces are drawn; by default those of the run's names.
        layers, host, port, browser: Arguments of show.
    Raises: InputError for runs of another robot; otherwise as show."""
    page = RunPage(motion(run, model, feet), layers, host, port)
    tell(page, browser)
    return page
