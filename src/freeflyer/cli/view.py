"""`freeflyer view`: a robot, or a recorded run, in the browser or as a picture; and `--view` of other commands."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import freeflyer as ff
from freeflyer.cli.options import BaseOption, DebugOption, LoopsOption, RobotArgument, load_robot, option
from freeflyer.cli.output import console, warnings_on
from freeflyer.errors import check_name
from freeflyer.files import check_target

if TYPE_CHECKING:
    from rich.console import Console

ImageOption = Annotated[
    Path | None, option("--image", metavar="FILE", help="Write a picture (PNG) instead; no browser is needed.")]
HtmlOption = Annotated[Path | None, option("--html", metavar="FILE", help="Write a page that needs nothing else instead.")]
GifOption = Annotated[Path | None, option("--gif", metavar="FILE", help="Write a film of the run instead.")]
RunOption = Annotated[Path | None, option("--run", metavar="FILE", help="Play a run that was saved (.npz, or a folder).")]
KeyframeOption = Annotated[str | None, option("--keyframe", metavar="NAME", help="A posture that the file names.")]


def view(
    robot: RobotArgument, base: BaseOption = None, loops: LoopsOption = None, run: RunOption = None,
    keyframe: KeyframeOption = None, image: ImageOption = None, html: HtmlOption = None, gif: GifOption = None,
    opened: Annotated[bool, typer.Option("--open", help="Leave loops open: a slider for every joint.")] = False,
    layers: Annotated[str, typer.Option("--layers", help="Beside the links: com, loops, forces, frames, inertias.")]
        = "com,loops,forces",
    azimuth: Annotated[float, typer.Option("--azimuth", help="Direction of the eye of the picture, degrees.")] = -60.0,
    elevation: Annotated[float, typer.Option("--elevation", help="Height of the eye above the horizon, degrees.")] = 12.0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a FILE that is there.")] = False,
    host: Annotated[str, typer.Option("--host", help="Address at which the page is served.")] = "127.0.0.1",
    port: Annotated[int | None, option("--port", help="Port of the page.", show_default="the first free one from 8080 on")] = None,
    browser: Annotated[bool, typer.Option(help="Whether a browser is opened.")] = True,
    debug: DebugOption = False,
) -> None:  # fmt: skip
    """Show a robot in the browser with a slider for each motor, or play a run; or write a picture, a page, a film."""
    out, shown = console(), [x.strip() for x in layers.split(",") if x.strip()]
    if gif is not None and run is None:
        raise typer.BadParameter("--gif writes the film of a run: give --run, too")
    if keyframe is not None and run is not None:
        raise typer.BadParameter("--run has its own postures: leave out --keyframe")
    for file, ending in ((image, ".png"), (html, ".html"), (gif, ".gif")):  # before anything is computed
        if file is not None:
            check_target(file, (ending,), overwrite)
    model = load_robot(robot, base, loops)
    if model.loops and not opened:
        try:
            model = ff.close_loops(model)
        except ff.FreeflyerError as error:
            out.print(f"its loops stay open: {error}", soft_wrap=True)
    q = None
    if keyframe is not None:
        check_name("keyframe", keyframe, model.keyframes)
        q = model.keyframes[keyframe]
        q = ff.linkages.assemble(model, q, hold="actuated").q if model.reduction else q
    recorded = None if run is None else ff.sim.load(run)
    if image is html is gif is None:
        place: dict[str, Any] = {"layers": shown, "host": host, "port": port, "browser": False}
        make = partial(ff.viewer.show, model, q) if run is None else partial(ff.viewer.play, recorded, model)
        serve(out, partial(make, **place), browser)
        return
    with warnings_on(out):
        if image is not None:
            look: dict[str, Any] = {"layers": shown, "azimuth": azimuth, "elevation": elevation, "overwrite": overwrite}
            if recorded is not None:
                q, seen = first_sample(recorded, model, "forces" in shown)
                look |= seen
            ff.viewer.save_picture(model, image, q, **look)
            out.print(f"wrote {image}", soft_wrap=True)
        if recorded is not None:
            for path in filter(None, (html, gif)):
                ff.viewer.record(recorded, path, model, layers=shown, overwrite=overwrite)
                out.print(f"wrote {path}", soft_wrap=True)
        elif html is not None:
            with closing(ff.viewer.show(model, q, layers=shown, browser=False)) as page:
                page.save_html(html, overwrite)
            for note in () if image else page.notes:  # the picture warns of them
                out.print(note, soft_wrap=True)
            out.print(f"wrote {html}", soft_wrap=True)


def first_sample(run: Any, model: Any, forces: bool) -> tuple[Any, dict[str, Any]]:
    """Posture (nq,) of the first robot at the begin of a run, after a run's contacts have settled; and options of its picture."""
    from freeflyer.plots.controlled import SETTLED
    from freeflyer.viewer.motions import floor_of, motion

    m = motion(run, model)
    settled = int((m.t < m.t[0] + SETTLED).sum()) if m.forces else 0
    q, (wrenches,) = m.at(min(settled, len(m.t) - 1), [0])
    return q[0], {"forces": wrenches if forces else None, "feet": m.feet, "floor": floor_of(m)}


def play_run(out: Console, run: Any) -> None:
    """Plays a run until Ctrl-C."""
    serve(out, lambda: ff.viewer.play(run, browser=False), True)


def serve(out: Console, make: Callable[[], Any], browser: bool) -> None:
    """Opens the page, says where, and returns when Ctrl-C is pressed."""
    from freeflyer.viewer.page import opened

    with warnings_on(out):
        page = make()
    with suppress(KeyboardInterrupt), closing(page):
        for note in (*page.notes, f"{opened(page, browser)}; Ctrl-C ends it"):
            out.print(note, soft_wrap=True)
        page.wait()
