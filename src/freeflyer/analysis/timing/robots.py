"""Robots that are timed: those that this machine has."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freeflyer import robots
from freeflyer.model.load import load


@dataclass(frozen=True)
class BenchRobot:
    """A robot to time, and the URDF or MJCF file it comes from, which a peer can read too."""

    model: Any
    urdf: Path | None
    mjcf: Path | None = None


def default_robots() -> Iterator[BenchRobot]:
    """TALOS (example-robot-data), a floating chain of 50 links, the humanoid, a quadruped, arms of 1, 2 and 6 joints; of folder
    FREEFLYER_MODELS TOCABI, and with loops the five-bar, Cassie and Kangaroo."""
    talos = example_urdf("talos_reduced.urdf")
    if talos is not None:
        yield from_file(talos)
    for model in (robots.chain(50, base="free"), robots.make("humanoid"), robots.make("quadruped"), *map(robots.chain, (6, 2, 1))):
        yield BenchRobot(model, None)
    if not os.environ.get("FREEFLYER_MODELS"):
        return
    folder = Path(os.environ["FREEFLYER_MODELS"])
    if tocabi := sorted((folder / "tocabi").glob("*.urdf")):
        yield from_file(tocabi[0])
    five_bar = folder / "five_bar"
    if (five_bar / "robot.yaml").is_file():
        yield from_file(five_bar / "robot.urdf", base="fixed", loops=five_bar / "robot.yaml")
    for path in (folder / "cassie" / "cassie.xml", folder / "kangaroo" / "kangaroo.xml"):
        if path.is_file():
            yield from_file(path)


def from_file(path: Path, **options: Any) -> BenchRobot:
    """A robot from a file; a URDF file is handed to the peer as it is."""
    return robot_of_file(load(path, **options), path)


def robot_of_file(model: Any, path: Path | None) -> BenchRobot:
    """A model and the file it was loaded from, if any."""
    kind = "" if path is None else path.suffix.lower()
    return BenchRobot(model, path if kind == ".urdf" else None, path if kind in (".xml", ".mjcf") else None)


def example_urdf(name: str) -> Path | None:
    """The URDF of that name in the example-robot-data package, None where it is not installed."""
    folder = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
    return next(iter(sorted(folder.rglob(name))), None) if folder.is_dir() else None
