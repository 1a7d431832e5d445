"""Problems of whole-body control from files: tasks, contacts and limits of a robot that stands, in YAML (docs/export.md)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from freeflyer.contacts import Contact, line, point, surface
from freeflyer.control import body_tasks as tasks
from freeflyer.control.limits import AccelerationLimits, JointLimits, Limit, TorqueLimits
from freeflyer.control.problem import WholeBodyProblem
from freeflyer.control.tasks import Task
from freeflyer.dynamics import center_of_mass, frame_pose
from freeflyer.errors import FileError, FreeflyerError
from freeflyer.model import Model, one_row, parse_yaml, public, read_bytes, yaml_list, yaml_mapping

MAX_BYTES = 2**20
TASKS: dict[str, Callable[..., Task]] = {
    "center_of_mass": lambda model, q, **given: tasks.CenterOfMassTask(center_of_mass(model, q), **given),
    "frame_pose": lambda model, q, frame, **given: tasks.FramePoseTask(frame, frame_pose(model, q, frame), **given),
    "frame_position": lambda model, q, frame, **given: tasks.FramePositionTask(frame, frame_pose(model, q, frame)[:3, 3], **given),
    "frame_orientation": lambda model, q, frame, **x: tasks.FrameOrientationTask(frame, frame_pose(model, q, frame)[:3, :3], **x),
    "posture": lambda model, q, **given: tasks.PostureTask(q, **given),
    "momentum": lambda model, q, **given: tasks.CentroidalMomentumTask(**given)}
CONTACTS: dict[str, Callable[..., Contact]] = {"surface": surface, "point": point, "line": line}
LIMITS: dict[str, Callable[..., Limit]] = {
    "torques": lambda scale: TorqueLimits(scale=scale), "accelerations": AccelerationLimits, "joints": JointLimits}  # fmt: skip
NUMBERS = ("friction", "acceleration_weight", "force_weight", "contact_damping")
KEYS = ("tasks", "contacts", "limits", "bilateral", *NUMBERS)


@public
def read_problem(path: str | os.PathLike[str], model: Model, q: np.ndarray) -> WholeBodyProblem:
    """Problem of whole-body control from a YAML file, for a robot that stands at a posture.

    Args:
        q: (nq,) array, the posture, from which tasks take their targets.

    Examples:
        >>> model = ff.robots.humanoid(20)
        >>> text = "tasks:\\n - center_of_mass: {stiffness: 50}\\ncontacts:\\n - surface: left_sole\\n - surface: right_sole\\n"
        >>> _ = open("stance.yaml", "w").write(text)
        >>> ff.control.read_problem("stance.yaml", model, ff.robots.standing_posture(model))
        WholeBodyProblem('humanoid_20', 1 tasks, 2 contacts, 0 limits)
    """
    q, where = one_row(model, "q", q, "q"), f"controller file {Path(path).name!r}"
    content = yaml_mapping(parse_yaml(read_bytes(path, "controller file", MAX_BYTES), where), where, KEYS)
    entries, held, bilateral = (yaml_list(content.get(x, []), f"{where}, {x}") for x in ("tasks", "contacts", "bilateral"))
    limited = yaml_mapping(content.get("limits") or {}, f"{where}, limits", LIMITS, "limit")
    made = [_made(TASKS, "task", x, where, model, q) for x in entries]
    contacts = [_made(CONTACTS, "contact", x, where) for x in held]
    limits = [_made(LIMITS, "limit", {name: x}, where) for name, x in limited.items()]
    numbers = {name: _value(content[name]) for name in NUMBERS if name in content}
    try:
        return WholeBodyProblem(model, made, contacts, limits, bilateral=bilateral, **numbers)
    except FreeflyerError as error:
        raise FileError(f"{where}: {error}") from error


def _made(kinds: dict[str, Callable[..., Any]], what: str, entry: Any, where: str, *given: Any) -> Any:
    """A task, contact or limit of an entry 'kind: arguments'; a single argument stands alone."""
    if isinstance(entry, str):
        entry = {entry: {}}
    entry = yaml_mapping(entry, where, kinds, what)
    if len(entry) != 1:
        raise FileError(f"{where}: a {what} is one of {', '.join(kinds)} with its arguments, got {entry}")
    ((kind, arguments),) = entry.items()
    try:
        if isinstance(arguments, dict):
            return kinds[kind](*given, **{name: _value(x) for name, x in arguments.items()})
        return kinds[kind](*given, _value(arguments))
    except TypeError as error:  # of the call: an argument that is unknown, missing or given twice
        text = re.sub(r"^\S+ ", "", str(error)).replace("keyword argument", "key").replace("required positional argument", "key")
        raise FileError(f"{where}, {what} {kind!r}: {text}") from error
    except FreeflyerError as error:
        raise FileError(f"{where}, {what} {kind!r}: {error}") from error


def _value(x: Any) -> Any:
    """A whole number, a number, a text, or a list of these."""
    if isinstance(x, list):
        return [_value(y) for y in x]
    for kind in (int, float):
        with suppress(TypeError, ValueError):
            return kind(x)
    return x
