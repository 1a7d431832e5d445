"""The robot of `freeflyer control`, standing: from a file or built in, its feet named or found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freeflyer.contacts.description import Contact
    from freeflyer.control.standing import Standing
    from freeflyer.model.model import Model


def standing_robot(name: str, feet: str | None, sole: str | None, loops: Path | None) -> Standing:
    """The robot that --robot means on its feet: those of --feet, or of frames ..._sole, or of the file's colliding shapes."""
    from freeflyer.cli.options import load_robot
    from freeflyer.constraints.closed import close_loops
    from freeflyer.contacts.soles import feet_in_file
    from freeflyer.control.standing import stand_on_feet
    from freeflyer.errors import InputError

    robot = load_robot(name, None, loops)
    model = close_loops(robot.model)
    if sole is not None and feet is None:
        raise InputError("--sole gives the size of the feet that --feet names: give both")
    if feet is not None:
        return stand_on_feet(model, _named_feet(model, feet, sole))
    named = any(n.endswith("_sole") for n in model.frame_names)
    return stand_on_feet(model, None if robot.path is None or named else feet_in_file(model, robot.path))


def _named_feet(model: Model, feet: str, sole: str | None) -> list[Contact]:
    """Surfaces at frames: with the corners that the model names, or a rectangle."""
    from freeflyer.contacts.description import surface
    from freeflyer.contacts.feet import corners_of
    from freeflyer.errors import InputError

    found = []
    for name in feet.split(","):
        model.frame(name)
        if sole is None and corners_of(model, name) is None:
            raise InputError(
                f"the foot {name!r} has no size: there are no frames {name}_* at its corners. Give its sole's sides, m, "
                "such as --sole 0.2x0.1"
            )
        found.append(surface(name) if sole is None else surface(name, size=_sides(sole)))
    return found


def _sides(text: str) -> list[float]:
    from freeflyer.errors import InputError, format_value

    try:
        length, width = (float(word) for word in text.split("x"))
    except ValueError:
        raise InputError(f"--sole must be LENGTHxWIDTH in m, such as 0.2x0.1, got {format_value(text)}") from None
    return [length, width]
