"""The robot of `freeflyer control`, standing: from a file or built in, its feet named or found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freeflyer.contacts.description import Contact
    from freeflyer.control.standing import Standing
    from freeflyer.model.model import Model


def standing_robot(name: str, feet: str | None, sole: str | None, loops: Path | None, plant: Path | None = None) -> Standing:
    """The robot that --robot means on its feet: those of --feet, or of frames ..._sole, or of the colliding shapes in the file that
    MuJoCo simulates or in its own."""
    from freeflyer.cli.options import load_robot
    from freeflyer.control.standing import stand_on_feet
    from freeflyer.errors import InputError

    robot = load_robot(name, None, loops)
    model, path = _without_springs(robot.model, plant), plant or robot.path
    if sole is not None and feet is None:
        raise InputError("--sole gives the size of the feet that --feet names: give both")
    return stand_on_feet(model, None if feet is None else _named_feet(model, feet, sole, path), path=path)


def _without_springs(robot: Model, plant: Path | None) -> Model:
    """The robot with closed loops, joints locked that springs drive and no motors: a cycle cannot choose forces of the ground that
    have to go through springs."""
    from freeflyer.cli.output import console
    from freeflyer.control.inputs import unactuated_coordinates, velocity_places
    from freeflyer.errors import InputError
    from freeflyer.linkages.closing import close_loops
    from freeflyer.model.configuration import reference_posture
    from freeflyer.model.edits import lock_joints

    model = close_loops(robot)
    free = set(velocity_places(model)[unactuated_coordinates(model)].tolist())
    sprung = {j.name for j in model.tree.description.joints if any(j.stiffness)}
    names = [j.name for j in model.tree.joints if j.iv in free and j.nv == 1 and j.name in sprung]
    if not names:
        return model
    if plant is not None:
        raise InputError(f"springs alone drive {', '.join(names)} of {model.name!r}, which control takes as rigid: its own file "
            "cannot be the plant. Leave --plant-file out")  # fmt: skip
    console(stderr=True).print(f"springs alone drive {', '.join(names)}: they are locked", soft_wrap=True)
    return close_loops(lock_joints(model.tree, names, reference_posture(model.tree)))


def _named_feet(model: Model, feet: str, sole: str | None, path: Path | None) -> list[Contact]:
    """Contacts at frames: points, rectangles, or with the corners that the model names or the shapes that the file has."""
    from freeflyer.contacts.description import point, surface
    from freeflyer.contacts.feet import feet_from_file
    from freeflyer.contacts.sets.tables import corners_of
    from freeflyer.errors import InputError

    names = feet.split(",")
    for name in names:
        model.frame(name)
    if sole is not None:
        return [point(name) if sole == "point" else surface(name, size=_sides(sole)) for name in names]
    known = {name: surface(name) for name in names if len(corners_of(model, name))}
    if path is not None and len(known) < len(names):
        known = {foot.frame: foot for foot in feet_from_file(model, path)} | known
    for name in names:
        if name not in known:
            raise InputError(f"the foot {name!r} has no size: there are no frames {name}_* at its corners, and it is no foot of "
                "the file. Give its sole's sides, m, such as --sole 0.2x0.1, or --sole point")  # fmt: skip
    return [known[name] for name in names]


def _sides(text: str) -> list[float]:
    from freeflyer.errors import InputError, format_value

    try:
        length, width = (float(word) for word in text.split("x"))
    except ValueError:
        raise InputError(f"--sole must be LENGTHxWIDTH in m, such as 0.2x0.1, or point, got {format_value(text)}") from None
    return [length, width]
