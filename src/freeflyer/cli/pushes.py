"""`freeflyer control stand --pushes N` and `--boundary N`: which pushes a robot bears."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from freeflyer.control.standing import Standing


def push_study(out: Console, robot: Standing, pushes: int | None, directions: int | None, seed: int, folder: Path | None,
               options: dict[str, Any]) -> dict[str, Any]:  # fmt: skip
    """Prints what was found, draws it into a folder, and answers with the numbers."""
    import numpy as np

    from freeflyer.cli.output import table
    from freeflyer.cli.progress import status
    from freeflyer.control.pushes import push_boundary, random_pushes, survives_push
    from freeflyer.text import number

    found: dict[str, Any] = {"robot": robot.model.name, "mass": robot.model.mass}
    impulses, fell = np.zeros((0, 2)), np.zeros(0, bool)
    boundary = None
    if pushes is not None:
        impulses = random_pushes(robot, pushes, seed=seed)
        with status(f"{robot.model.name}: {pushes} pushes") as progress:
            fell = ~survives_push(robot, impulses, progress=progress, **options)
        size = np.linalg.norm(impulses, axis=1)
        out.print(f"{fell.sum()} of {pushes} pushes lost; impulses up to {size.max():.1f} N s on {robot.model.mass:.1f} kg")
        found |= {"impulses": impulses.tolist(), "fell": fell.tolist()}
    if directions is not None:
        angles = 2.0 * np.pi * np.arange(directions) / directions
        with status(f"{robot.model.name}: where it falls") as progress:
            boundary = push_boundary(robot, angles, progress=progress, **options)
        rows = [
            (number(np.degrees(a), 3), number(low, 3), number(high, 3), number(limit, 3), number(low / limit, 2))
            for a, low, high, limit in zip(angles, boundary.borne, boundary.lost, boundary.limits)
        ]
        titles = ("direction (deg)", "borne (N s)", "lost (N s)", "capture point (N s)", "share")
        title = f"{robot.model.name}, {robot.model.mass:.1f} kg: pushes for 0.1 s on the base"
        out.print(table(title, titles, rows, tuple(range(5))))
        found |= {"angles": angles.tolist(), "borne": boundary.borne.tolist(), "lost": boundary.lost.tolist(),
                  "limits": boundary.limits.tolist()}  # fmt: skip
    if folder is not None:
        from freeflyer.plots.files import save
        from freeflyer.plots.pushes import push_figure

        for path in save(folder, f"pushes_{robot.model.name}", lambda: push_figure(robot.model.mass, boundary, impulses, fell)):
            out.print(f"wrote {path}", soft_wrap=True)
    return found
