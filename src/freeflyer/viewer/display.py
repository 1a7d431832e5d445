"""How values draw themselves: figures and film strips of runs, tables and pictures in notebooks. `freeflyer.shown` calls these."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import singledispatch
from inspect import signature
from typing import Any

import numpy as np

from freeflyer.contacts import ConstraintSet, complete_feet
from freeflyer.contacts.constrained_dynamics import ConstrainedDynamics
from freeflyer.control import ControlRun, ControlSolution
from freeflyer.errors import check_name
from freeflyer.model.description import describe_base
from freeflyer.model import Model, whole_number
from freeflyer.plots.controlled import run_figure, run_strip
from freeflyer.plots.film import film_strip
from freeflyer.plots.picture import picture, png
from freeflyer.plots.runs import motion_figure
from freeflyer.sim.run import Run, digest
from freeflyer.sim.run_table import RecordedRun
from freeflyer.tables import Table, esc, html_tables
from freeflyer.text import number
from freeflyer.viewer.motions import model_of_run, motion

SIZE = 300  # pixels of the picture of a robot in a notebook
SHOTS = 4  # of a run
MOST_ROWS = 40
MOST_DRAWN = 1000  # links


@singledispatch
def figure(value: Any, **options: Any) -> Any:
    """Figure of a run over time."""
    return _draw("plot", motion_figure, (value,), options)


@figure.register
def _(value: ControlRun, **options: Any) -> Any:
    return _draw("plot", run_figure, (value,), options)


@singledispatch
def film(value: Any, *, model: Model | None = None, robot: int | None = None, **options: Any) -> Any:
    """Film strip of one robot of a run."""
    if robot is None and isinstance(value, Run):
        return _draw("film", film_strip, (model_of_run(value, model), value), options, ("robot", "model"))
    m = motion(value, model)
    n = whole_number("robot", robot or 0, 0, m.q.shape[1] - 1)
    rest = np.zeros((len(m.t), m.model.nv))
    forces = {name: w[:, n] for name, w in m.forces.items()}
    run = Run(m.t, m.q[:, n], rest, rest, forces, robot=m.model.name, digest=digest(m.model))
    return _draw("film", film_strip, (m.model, run), {"feet": list(m.feet) or None} | options, ("robot", "model"))


@film.register
def _(value: ControlRun, **options: Any) -> Any:
    return _draw("film", run_strip, (value,), options)


def _draw(name: str, function: Callable[..., Any], given: tuple[Any, ...], options: Mapping[str, Any],
          others: Sequence[str] = ()) -> Any:  # fmt: skip
    """function(*given, **options). Errors: UnknownNameError for options that `name` does not have."""
    known = [*(p.name for p in signature(function).parameters.values() if p.default is not p.empty), *others]
    for option in options:
        check_name("option", option, known, f"These are the options of {name}().")
    return function(*given, **options)


@singledispatch
def html(value: Any) -> str:
    """HTML of a value in a notebook."""
    return f"<pre>{esc(repr(value), 4000)}</pre>"


@html.register
def _(value: Model) -> str:
    links = len(value.link_names)
    rows = [
        ("positions nq", str(value.nq)), ("velocities nv", str(value.nv)), ("mass", f"{number(value.mass, 6)} kg"),
        ("base", describe_base(value.description)), ("links", str(links)), ("moving joints", str(len(value.joints))),
        ("motors", str(len(value.actuated)))]  # fmt: skip
    if value.loops:
        rows.append(("loops", f"{len(value.loops)} {'closed' if value.reduction else 'open'}"))
    table = html_tables("", [Table(value.name, ("", ""), rows)])
    return _beside([picture(value, width=SIZE, height=SIZE)] if links <= MOST_DRAWN else [], table)


@html.register
def _(value: RecordedRun) -> str:
    """Pictures of a run at times evenly spread, and its line; without pictures if the model is not known."""
    text = f"<p>{esc(repr(value), 300)}</p>"
    if isinstance(value, Run) and value.model is None:
        return text
    m = motion(value)
    if len(m.model.link_names) > MOST_DRAWN:
        return text
    shots = []
    for k in np.linspace(0, len(m.t) - 1, min(SHOTS, len(m.t))).astype(int):
        q, forces = m.at(int(k), [0])
        shots.append(picture(m.model, q[0], width=SIZE * 2 // 3, height=SIZE, forces=forces[0], feet=m.feet))
    return _beside(shots, text)


@html.register
def _(value: ControlSolution) -> str:
    rows = [
        ("status", f"{value.status} {value.reason}"), ("solved in", f"{1e6 * value.seconds:.0f} µs"),
        ("largest torque", f"{_largest(value.tau)} N m or N"), ("largest acceleration", f"{_largest(value.a)} rad/s², m/s²")]
    return _solution("solution of whole-body control", rows, value.constraints, value.q, value.forces)


@html.register
def _(value: ConstrainedDynamics) -> str:
    rows = [("accelerations", " x ".join(map(str, value.a.shape))), ("largest", f"{_largest(value.a)} rad/s², m/s²")]
    rows += [(f"{name} pulls", "yes") for name, x in value.pulling.items() if np.any(x)] if value.constraints else []
    return _solution("constrained dynamics", rows, value.constraints, value.q, value.forces)


def _largest(x: np.ndarray) -> str:
    return number(float(np.abs(x).max(initial=0.0)))


def _solution(title: str, rows: Sequence[tuple[str, str]], constraints: ConstraintSet | None, q: np.ndarray | None,
              forces: Mapping[str, np.ndarray]) -> str:  # fmt: skip
    """Tables, and the robot with its contact forces at one state."""
    text = html_tables("", [Table(title, ("", ""), rows), _wrenches(forces)])
    if constraints is None or q is None or q.ndim != 1 or len(constraints.model.link_names) > MOST_DRAWN:
        return text
    feet = complete_feet(constraints.model.tree, constraints.contacts) if constraints.contacts else ()
    on_feet = {foot.name: forces[foot.name] for foot in feet if foot.name in forces}
    return _beside([picture(constraints.model, q, width=SIZE, height=SIZE, forces=on_feet, feet=feet)], text)


def _wrenches(forces: Mapping[str, np.ndarray]) -> Table:
    """Numbers of one state; shapes of batches."""
    rows = []
    for name, x in list(forces.items())[:MOST_ROWS]:
        cells = [number(float(w), 4) for w in x] if x.ndim == 1 else [" x ".join(map(str, x.shape)), *[""] * 5]
        rows.append((str(name), *cells))
    heads = ("contact", "fx (N)", "fy", "fz", "tx (N m)", "ty", "tz")
    return Table("forces on the robot, in the contact's frame", heads, rows, tuple(range(1, 7)))


def _beside(images: Iterable[np.ndarray], text: str) -> str:
    shown = "".join(f'<img style="margin:0" src="data:image/png;base64,{base64.b64encode(png(x)).decode()}">' for x in images)
    return f'<div style="display:flex;align-items:center;gap:1em"><div>{shown}</div><div>{text}</div></div>'
