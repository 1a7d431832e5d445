"""A figure of a control run: tracking errors, contact forces, torques beside their limits, solve times, centres of pressure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError, check_name, format_value
from freeflyer.model.inputs import check_shape, real_array
from freeflyer.plots.runs import draw_first
from freeflyer.plots.style import BESIDE, BLUE, GREY, ORANGE, SERIES, blank_figure, label, styled

LEAST_ERROR = 1e-9  # of an error on the logarithmic axis


@styled
def control_run(time: ArrayLike, *, errors: Mapping[str, ArrayLike] | None = None, forces: Mapping[str, ArrayLike] | None = None,
                torques: Mapping[str, ArrayLike] | None = None, torque_limits: Mapping[str, ArrayLike] | None = None,
                solve_times: ArrayLike | None = None, period: float | None = None,
                pressure: Mapping[str, ArrayLike] | None = None, soles: Mapping[str, ArrayLike] | None = None,
                width: float = 9.6) -> Any:  # fmt: skip
    """Figure of a control run; a panel for each kind of data that is given, over one time axis, and the soles beside.

    Args:
        time: (T,) array, s.
        errors: Errors (T,) or (T, m) by name of the task, m or rad; of several rows the norm is drawn, on a logarithmic axis.
        forces: Forces (T, 3) or wrenches (T, 6) by name of the foot, N, in the axes of the contact, whose z is the normal
            (`Run.wrenches`): the third component is drawn.
        torques: Torques (T,) by name of the joint, N m; drawn as shares of their limits.
        torque_limits: A positive number, or (lower, upper), for each joint of `torques`, N m.
        solve_times: (T,) array, s; drawn in ms.
        period: Control period, s: the limit of solve times.
        pressure: Centres of pressure (T, 2) by name of the foot, m, in the sole's frame, x forward and y left; NaN where it does
            not press.
        soles: Corners (k, 2) of the sole of each foot of `pressure`, m, in order around it.
        width: Width of the figure, inches.

    Raises:
        InputError: For nothing to draw, other shapes, and limits that are not positive.
        UnknownNameError: For joints without limits and feet without soles.

    Examples:
        >>> from freeflyer.plots.control_run import control_run
        >>> t = np.linspace(0.0, 1.0, 50)
        >>> knee = {"torques": {"knee": 80.0 * np.sin(t)}, "torque_limits": {"knee": 200.0}}
        >>> figure = control_run(t, errors={"center of mass": 1e-3 * np.exp(-t)}, **knee)
        >>> [axes.get_ylabel() for axes in figure.axes]
        ['error (m, rad)', 'torque / limit']
    """
    t = check_shape("time", real_array("time", time), ("T",))
    panels: list[tuple[Callable[..., None], dict[str, Any]]] = []
    if errors:
        panels.append((_draw_errors, _series("errors", errors, len(t), (0, 1))))
    if forces:
        panels.append((_draw_forces, _series("forces", forces, len(t), (1,), (3, 6))))
    if torques:
        shares = _shares(_series("torques", torques, len(t), (0,)), torque_limits or {})
        panels.append((_draw_torques, shares))
    if solve_times is not None:
        panels.append((_draw_solve_times, _series("solve_times", {"solve_times": solve_times}, len(t), (0,)) | {"period": period}))
    feet = _series("pressure", pressure or {}, len(t), (1,), (2,))
    corners = {name: _corners(name, soles or {}) for name in feet}
    if not panels and not feet:
        raise InputError("nothing to draw: give errors=, forces=, torques=, solve_times= or pressure=")
    rows = max(len(panels), 1)
    figure = blank_figure(width, max(0.5 + 1.35 * rows, 3.2 if feet else 0.0))
    parts: Any = figure.subfigures(1, 2, width_ratios=[3.4, 1.0]) if feet and panels else (figure, figure)
    left, right = parts
    if panels:
        column = left.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (draw, data) in zip(column, panels):
            draw(axes, t, data)
            axes.grid(True)
            axes.margins(x=0.0)
        column[-1].set_xlabel("time (s)")
        left.align_ylabels(column)
    if feet:
        _draw_soles(right, t, feet, corners)
    return figure


def _series(what: str, data: Mapping[str, ArrayLike], samples: int, axes: tuple[int, ...],
            widths: tuple[int, ...] = ()) -> dict[str, Any]:  # fmt: skip
    """Arrays (T,) or (T, m) by name. axes: how many after the first; widths: which m."""
    found = {}
    for name, x in data.items():
        array = real_array(f"{what}[{name!r}]", x)
        if array.ndim - 1 not in axes or len(array) != samples or (widths and array.shape[-1] not in widths):
            wanted = " or ".join(f"({samples}, {m})" for m in widths) or f"({samples},)" + f" or ({samples}, m)" * (1 in axes)
            raise InputError(f"{what} of {name!r} have shape {array.shape}, expected {wanted}", name=name, shape=array.shape)
        found[str(name)] = array
    return found


def _shares(torques: Mapping[str, np.ndarray], limits: Mapping[str, ArrayLike]) -> dict[str, Any]:
    """Share of the limit (T,) of each joint, -1 at the lower and 1 at the upper, and its largest torque with that limit, N m."""
    found = {}
    for name, tau in torques.items():
        check_name("torque limit", name, limits)
        limit = real_array(f"torque_limits[{name!r}]", limits[name])
        lower, upper = (-limit, limit) if limit.ndim == 0 else limit if limit.shape == (2,) else (np.inf, np.inf)
        if not (lower < 0.0 < upper):
            raise InputError(
                f"torque_limits of {name!r} must be a positive number or (lower < 0, upper > 0), got {format_value(limits[name])}",
                name=name)  # fmt: skip
        share = np.where(tau > 0.0, tau / upper, -tau / lower)
        worst = int(np.nanargmax(np.abs(share)))
        found[name] = (share, abs(float(tau[worst])), float(upper if tau[worst] > 0.0 else -lower))
    return found


def _corners(name: str, soles: Mapping[str, ArrayLike]) -> np.ndarray:
    check_name("sole", name, soles)
    corners = real_array(f"soles[{name!r}]", soles[name])
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 2:
        raise InputError(f"the sole of {name!r} has shape {corners.shape}, expected (k, 2), k of 2 or more", name=name)
    return corners


def _draw_errors(axes: Any, t: np.ndarray, errors: Mapping[str, np.ndarray]) -> None:
    for k, (name, e) in enumerate(errors.items()):
        size = np.abs(e) if e.ndim == 1 else np.linalg.norm(e, axis=1)
        axes.semilogy(t, np.maximum(size, LEAST_ERROR), **_look(k), lw=1.1, label=label(name, 34))
    axes.set_ylabel("error (m, rad)")
    axes.legend(**BESIDE)


def _draw_forces(axes: Any, t: np.ndarray, forces: Mapping[str, np.ndarray]) -> None:
    for k, (name, f) in enumerate(forces.items()):
        axes.plot(t, f[:, 2], **_look(k), lw=1.1, label=label(name, 24))
    axes.axhline(0.0, color=GREY, lw=0.6)
    axes.set_ylabel("normal force (N)")
    axes.legend(**BESIDE)


def _draw_torques(axes: Any, t: np.ndarray, torques: Mapping[str, Any]) -> None:
    """The joints that come nearest to their limits in colours, the others grey."""
    order = sorted(torques, key=lambda name: -float(np.nanmax(np.abs(torques[name][0]))))
    words = {name: f"{label(name, 20)}: {most:.0f} of {limit:.0f}" for name, (_, most, limit) in torques.items()}
    draw_first(axes, t, {name: share for name, (share, *_) in torques.items()}, order, words.__getitem__)
    for end in (-1.0, 1.0):
        axes.axhline(end, color="#c0392b", lw=0.9, ls="--")
    axes.set_ylim(-1.15, 1.15)
    axes.set_ylabel("torque / limit")


def _draw_solve_times(axes: Any, t: np.ndarray, data: Mapping[str, Any]) -> None:
    ms, period = 1e3 * data["solve_times"], data["period"]
    axes.plot(t, ms, ".", color=BLUE, ms=2.0, label=f"median {np.nanmedian(ms):.2g} ms\nlargest {np.nanmax(ms):.2g} ms")
    if period is not None:
        axes.axhline(1e3 * period, color="#c0392b", lw=0.9, ls="--", label=f"period {1e3 * period:g} ms")
    axes.set_yscale("log")
    axes.set_ylabel("solve time (ms)")
    axes.legend(**BESIDE, markerscale=3.0)


def _draw_soles(figure: Any, t: np.ndarray, feet: Mapping[str, np.ndarray], corners: Mapping[str, np.ndarray]) -> None:
    """Each sole from above, x up and y to the left, with the path of the centre of pressure, dark at the end."""
    grid = figure.subplots(len(feet), 1, squeeze=False)[:, 0]
    for axes, (name, p) in zip(grid, feet.items()):
        outline = 1e3 * np.vstack([corners[name], corners[name][:1]])
        axes.fill(outline[:, 1], outline[:, 0], fc="#eff1f3", ec=GREY, lw=1.0)
        axes.plot(1e3 * p[:, 1], 1e3 * p[:, 0], color=ORANGE, lw=0.4, alpha=0.5)
        axes.scatter(1e3 * p[:, 1], 1e3 * p[:, 0], c=t, cmap="cividis_r", s=3.0, lw=0, zorder=3)
        axes.set_aspect("equal")
        left, right = outline[:, 1].max(), outline[:, 1].min()
        half = max(0.5 * (left - right) + 15.0, 40.0)  # mm: room for the labels of a sole without width
        axes.set_xlim(0.5 * (left + right) + half, 0.5 * (left + right) - half)
        axes.set_title(label(name, 24), fontsize=8)
        axes.set_ylabel("forward (mm)")
    grid[-1].set_xlabel("to the left (mm)")
    bar = figure.colorbar(grid[0].collections[0], ax=list(grid), location="bottom", shrink=0.9, aspect=16)
    bar.set_label("centre of pressure at time (s)", fontsize=8)


def _look(k: int) -> dict[str, str]:
    """Colour of a line; the sixth begins anew, dashed."""
    return {"color": SERIES[k % len(SERIES)], "ls": ("-", "--", ":")[k // len(SERIES) % 3]}
