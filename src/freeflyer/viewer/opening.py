"""`show` and `play`: pages of robots and runs, on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.viewer.motions import motion
from freeflyer.viewer.page import PosturePage, opened, show_page
from freeflyer.viewer.player import RunPage
from freeflyer.viewer.recording import record_motion
from freeflyer.viewer.scene import SHOWN
from freeflyer.viewer.server import LOOPBACK, in_notebook


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
    Raises: MissingExtraError without viser. InputError for a port that is taken.
    """
    page = show_page(model, q, layers, host, port)
    _tell(page, browser)
    return page


@public
def play(run: object, model: Model | None = None, *, feet: Sequence[Contact] | None = None, layers: Sequence[str] = SHOWN,
         host: str = LOOPBACK, port: int | None = None, browser: bool = True) -> RunPage:  # fmt: skip
    """Page that plays a run of any kind: timeline, speed, steps, curves, one robot of several or sixteen side by side.

    Args:
        run: Run of sim.simulate, sim.simulate_in_mujoco, control.run_scenario, hopping.hop, or a study of a swing.
        model: Robot of a run that was loaded from a file.
        feet: Contacts whose forces are drawn; by default those of the run's names.
        layers, host, port, browser: Arguments of show.
    Raises: InputError for runs of another robot; otherwise as show.
    """
    page = RunPage(motion(run, model, feet), layers, host, port)
    _tell(page, browser)
    return page


@public
def record(run: object, path: str | os.PathLike[str], model: Model | None = None, *, feet: Sequence[Contact] | None = None,
           layers: Sequence[str] = SHOWN, rate: float | None = None, overwrite: bool = False) -> None:  # fmt: skip
    """Film of a run as a GIF, drawn without a browser, or as one HTML page that needs nothing else and can be turned.

    Args:
        run: Run as for play, which explains model, feet and layers.
        path: File; its ending, .gif or .html, says which.
        layers: Things that are drawn beside the links.
        rate: Frames a second; by default 12 of a GIF, 30 of a page.
    Raises: FileError for a file that is there, and other endings. MissingExtraError for a page without viser.
    """
    record_motion(motion(run, model, feet), path, layers, rate, overwrite)


def _tell(page: Any, browser: bool) -> None:
    if browser and not in_notebook():
        print(opened(page, browser))
