"""`freeflyer hop`: a hopping experiment, its energy by port and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freeflyer.cli.options import DebugOption, JsonOption, ViewOption, make_folder, option
from freeflyer.cli.output import draw_all, output, print_table, status, table, write_json
from freeflyer.cli.view import play_run
from freeflyer.errors import InputError, check_name, format_value

if TYPE_CHECKING:
    from freeflyer_papers.hopping.hopping import HopRun

ExperimentArgument = Annotated[str | None, typer.Argument(metavar="EXPERIMENT",
    help="prismatic-I to -III or revolute-I to -VI; without one, the list of them.", show_default=False)]  # fmt: skip
FolderOption = Annotated[Path | None, option("--output", "-o", metavar="FOLDER",
    help="Write figure, film strip and animation there.")]  # fmt: skip
SetOption = Annotated[list[str] | None, option("--set", metavar="NAME=VALUE",
    help="A setting, such as energy_gain=20; may be given several times.")]  # fmt: skip


def hop(
    experiment: ExperimentArgument = None,
    duration: Annotated[float | None, typer.Option("--duration", help="Run time, s.", show_default="the experiment's")] = None,
    settings: SetOption = None,
    folder: FolderOption = None,
    view: ViewOption = False, json: JsonOption = None, debug: DebugOption = False,
) -> None:  # fmt: skip
    """Let a leg hop: the experiments of the decoupling thesis, or the same with other settings."""
    from freeflyer_papers import hopping
    from freeflyer_papers.hopping.pictures import hop_animation, hop_figure, hop_strip
    from freeflyer_papers.hopping.settings import EXPERIMENTS

    out = output(json)
    if experiment is None:
        rows = [(name, x.purpose, f"{x.duration:g} s") for name, x in EXPERIMENTS.items()]
        out.print(table("hopping experiments: freeflyer hop EXPERIMENT", ("experiment", "what", "time"), rows, (2,)))
        return
    changes = parse_settings(settings or [])
    make_folder(folder)
    with status("hopping") as progress:
        run = hopping.hop(experiment, duration=duration, progress=progress, **changes)
    out.print(_table(run))
    print_table(out, run.energy.table())
    if run.failure:
        out.print(f"It {run.ended}: {run.failure}", soft_wrap=True)
    if folder is not None:
        end = float(run.t[-1])
        draw_all(out, folder, {run.experiment: lambda: hop_figure(run),
            f"{run.experiment}_strip": lambda: hop_strip(run, count=12, begin=max(0.0, end - 0.8))})  # fmt: skip
        out.print(f"wrote {hop_animation(run, folder / f'{run.experiment}.gif', begin=max(0.0, end - 2.0))}", soft_wrap=True)
    write_json(json, "hop", summary(run))
    if view:
        play_run(out, run)


def parse_settings(given: list[str]) -> dict[str, Any]:
    """Settings of NAME=VALUE. Errors: InputError."""
    from dataclasses import fields

    from freeflyer_papers.hopping.settings import HopSettings

    known = [field.name for field in fields(HopSettings)]
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set takes NAME=VALUE, got {format_value(text)}")
        check_name("setting", name, known)
        try:
            found[name] = value if name == "controller" else int(value) if name == "apexes" else float(value)
        except ValueError:
            raise InputError(f"--set {name} takes a number, got {format_value(value)}") from None
    return found


def summary(run: HopRun) -> dict[str, Any]:
    """Numbers of the tables."""
    energy = run.energy
    works = {name: float(getattr(energy, name)[-1]) for name in (
        "external", "joint", "touch_down", "floor", "radial_damper", "radial_spring", "polar_spring", "energy_controller")}
    return {
        "experiment": run.experiment, "ended": run.ended, "failure": run.failure, "time": float(run.t[-1]), "steps": len(run.t),
        "events": {name: len(run.named(name)) for name in ("touch-down", "lift-off", "apex")}, "works": works,
        "balance": energy.residuals, "distance": float(run.q[-1, 0] - run.q[0, 0]),
        "energy": [float(energy.mechanical[0]), float(energy.mechanical[-1])]}  # fmt: skip


def _table(run: HopRun) -> Any:
    s = summary(run)
    rows = [("time", f"{s['time']:.3f}", "s"), ("steps", str(s["steps"]), ""), *((f"{n}{'e' * (n == 'apex')}s", str(k), "") for n,
        k in s["events"].items()),
            ("distance", f"{s['distance']:+.3f}", "m"), ("kinetic and gravity energy, begin", f"{s['energy'][0]:.4f}", "J"),
            ("end", f"{s['energy'][1]:.4f}", "J")]  # fmt: skip
    return table(f"{run.experiment}: {run.ended}", ("what", "value", "unit"), rows, (1,))
