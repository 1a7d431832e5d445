"""`freeflyer estimate`: how well a closed robot's passive joints are told by its motors' encoders."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from freeflyer.cli.options import BaseOption, DebugOption, JsonOption, LoopsOption, RobotArgument, load_robot

RigidOption = Annotated[
    list[str] | None,
    typer.Option("--rigid", metavar="JOINT", help="A joint taken as standing still; may be repeated.", show_default=False),
]


def estimate(
    robot: RobotArgument, base: BaseOption = None, loops: LoopsOption = None, rigid: RigidOption = None,
    noise: Annotated[float, typer.Option("--noise", min=0.0, help="Of an encoder, m or rad (standard deviation).")] = 1e-5,
    quantum: Annotated[float, typer.Option("--quantum", min=0.0, help="Step of an encoder, m or rad.")] = 1e-5,
    duration: Annotated[float, typer.Option("--duration", min=1.5, max=60.0, help="Seconds of motion.")] = 3.0,
    json: JsonOption = None, debug: DebugOption = False,
) -> None:  # fmt: skip
    """Move the motors on sinusoids and estimate the passive joints at 1 kHz: errors, bias and open loops."""
    from freeflyer.cli.output import output, table, write_json
    from freeflyer.estimation import Encoder, sensors, sinusoids, track

    s = sensors(load_robot(robot, base, loops).model, rigid=tuple(rigid or ()))
    path = sinusoids(s)
    rows: list[tuple[str, ...]] = []
    numbers: list[dict[str, Any]] = []
    kinds = {"ideal": Encoder(), "quantised": Encoder(0.0, quantum), "noisy, quantised": Encoder(noise, quantum)}
    for label, encoder in kinds.items():
        for alpha in (1.0, 1000.0):
            t = track(s, encoder, duration=duration, alpha=alpha, path=path)
            found = {
                "measured_rms": t.measured_rms, "passive_rms": t.passive_rms, "passive_largest": t.passive_largest,
                "bias": t.bias, "worst_joint": t.worst_joint, "closure": t.largest_closure,
            }  # fmt: skip
            numbers.append({"encoders": label, "alpha": alpha, **found})
            shown = [x if isinstance(x, str) else f"{x:.1e}" for x in found.values()]
            rows.append((label, f"{alpha:g}", *shown))
    columns = ("encoders", "alpha 1/s", "measured rms", "passive rms", "largest", "bias", "of joint", "open by")
    title = f"passive state of {s.model.name} at 1 kHz, beta = 1000 / s (m and rad)"
    output(json).print(table(title, columns, rows, (1, 2, 3, 4, 5, 7)))
    write_json(json, "estimate", numbers)
