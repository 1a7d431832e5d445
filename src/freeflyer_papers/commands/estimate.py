"""`freeflyer estimate`: passive joints, motor offsets and contact wrenches of a closed robot from its motors, and times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import freeflyer as ff
from freeflyer.cli.options import (
    BaseOption, DebugOption, FolderOption, JsonOption, LoopsOption, RobotArgument, ViewOption, load_robot, make_folder, option,
)
from freeflyer.cli.output import draw_all, name, output, print_table, status, write_json
from freeflyer.cli.view import play_run

RigidOption = Annotated[list[str] | None, option("--rigid", metavar="JOINT",
    help="A joint taken as standing still; may be repeated.")]  # fmt: skip
EncoderOption = Annotated[list[str] | None, option("--encoder", metavar="JOINT", help="A passive joint with an absolute encoder, "
    "to calibrate; may be repeated.", show_default="see estimation.select_encoders")]  # fmt: skip


def estimate(
    robot: RobotArgument, base: BaseOption = None, loops: LoopsOption = None, rigid: RigidOption = None,
    encoders: EncoderOption = None, folder: FolderOption = None,
    swing: Annotated[bool, typer.Option("--swing", help="Sway on two feet in MuJoCo; estimate the contact wrenches.")] = False,
    bench: Annotated[bool, typer.Option("--bench", help="Time the estimators, too.")] = False,
    noise: Annotated[float, typer.Option("--noise", min=0.0, help="Standard deviation of an encoder, m or rad.")] = 1e-5,
    quantum: Annotated[float, typer.Option("--quantum", min=0.0, help="Step of an encoder, m or rad.")] = 1e-5,
    duration: Annotated[float, typer.Option("--duration", min=1.5, max=60.0, help="Seconds of sinusoids.")] = 3.0,
    starts: Annotated[int, typer.Option("--starts", min=0, max=10000, help="Random starts of the calibration; 0: none.")] = 100,
    amplitude: Annotated[float, typer.Option("--amplitude", help="Amplitude of the sway, m.")] = 0.05,
    frequency: Annotated[float, typer.Option("--frequency", help="Frequency of the sway, Hz.")] = 0.2,
    view: ViewOption = False, json: JsonOption = None, debug: DebugOption = False,
) -> None:  # fmt: skip
    """Estimate a closed robot at 1 kHz: passive joints along sinusoids, motor offsets; with --swing its contact wrenches."""
    import numpy as np

    from freeflyer.model.readers.safe_file import read_xml
    from freeflyer.progress import part_of
    from freeflyer.tables import Table
    from freeflyer_papers.estimation import estimators, shown, swing as swinging

    if view and not swing:
        raise typer.BadParameter("--view shows the swing in MuJoCo: give --swing, too")
    if (amplitude, frequency) != (0.05, 0.2) and not swing:
        raise typer.BadParameter("--amplitude and --frequency are those of the swing in MuJoCo: give --swing, too")
    model = load_robot(robot, base, loops)
    s, path = ff.estimation.sensors(model, rigid=tuple(rigid or ())), model.description.file
    file = Path(path) if path and read_xml(path, "robot file")[0].tag == "mujoco" else None  # read by MuJoCo itself
    encoder, sways = estimators.Encoder(noise, quantum), 1.5
    time = swinging.REST_TIME + swinging.RISE_TIME + sways / max(frequency, 1e-3)
    sway = swinging.Sway(amplitude, frequency, duration=time, encoder=encoder)
    if swing:
        swinging.check_sway(sway, ff.sim.Servos())
    feet = _feet(s, file, needed=swing)
    for joint in encoders or ():
        s.model.joint(joint)
    make_folder(folder)
    out, numbers, pictures, moved = output(json), dict[str, Any](), dict[str, Callable[[], Any]](), None
    with status() as progress:
        kinds = {"ideal": estimators.Encoder(), "quantised": estimators.Encoder(0.0, quantum), "noisy, quantised": encoder}
        tracked = estimators.track_all(s, kinds, duration, progress, "motors on sinusoids")
        numbers["tracking"], pictures["tracking"] = tracked.runs, lambda: shown.tracking(tracked)
        print_table(out, shown.tracking_table(tracked, f"passive state of {s.model.name} at 1 kHz, beta = 1000 / s (m and rad)"))
        if starts:
            text, motors = f"calibrating from {starts} starts", None
            progress(0.0, text)
            if not encoders:
                selection = ff.estimation.select_encoders(s)
                encoders, motors = list(selection.joints), selection.motors
            found = estimators.calibrations(
                s, encoders, starts, rigid=tuple(rigid or ()), motors=motors, progress=part_of(progress, text))
            numbers["calibration"], pictures["calibration"] = found, lambda: shown.calibration(found)
            rows = [*shown.calibration_found(found).items(), ("absolute encoders on", ", ".join(found.encoders))]
            print_table(out, Table(f"calibration of {s.model.name}", ("quantity", "found"), rows))
        if bench:
            progress(0.0, "timing the estimators")
            numbers["times"] = estimators.estimation_times(s, feet)
            rows = list(shown.times_found(numbers["times"]).items())
            print_table(out, Table(f"time of the estimators of {s.model.name}", ("one state from Python", "us"), rows, (1,)))
        if swing:
            moved = swinging.lateral_swing(s, file, feet, sway=sway, progress=progress)
            drawn, thinned = np.array([shown.bones(s.model, q) for q in moved.extremes]), moved.subsample(20)
            pictures |= {f"swing_{what}": draw for what, draw in shown.swing_pictures(thinned, drawn).items()}
            lines, settings, heads = swinging.lines(moved), swinging.settings(moved), swinging.COLUMNS
            numbers["swing"] = {"lines": lines, "settings": settings, "swing": thinned}
            title = f"lateral swing of {moved.robot}: contact wrenches against MuJoCo's contacts"
            print_table(out, Table(title, heads, [x.cells for x in lines], range(1, len(heads))))
            out.print(name(settings, "", 2000), soft_wrap=True)
        progress(0.0, "drawing")
        draw_all(out, folder, pictures)
    write_json(json, "estimate", numbers)
    if moved is not None and view:
        play_run(out, moved)


def _feet(s: ff.estimation.Sensors, file: Path | None, needed: bool) -> tuple[ff.contacts.Contact, ...] | None:
    """Feet by the file's shapes, else by the names of sites; None where there are none and none are needed."""
    try:
        return ff.contacts.feet_by_name(s.model) if file is None else ff.contacts.feet_from_file(s.closed, file)
    except ff.FreeflyerError:
        if needed:
            raise
        return None
