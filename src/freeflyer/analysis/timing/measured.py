"""All that one benchmark measured."""

from __future__ import annotations

from dataclasses import dataclass

from freeflyer.analysis.timing.closed.tables import closed_table
from freeflyer.analysis.timing.control_cycles import ControlTimings
from freeflyer.analysis.timing.hierarchies import HierarchyTiming, hierarchies_table
from freeflyer.analysis.timing.results import (
    BatchPoint,
    Machine,
    RobotTimings,
    ScalingPoint,
    SolverTiming,
    Start,
    StepTiming,
)
from freeflyer.analysis.timing.tables import (
    batches_table,
    robot_table,
    scaling_table,
    solvers_table,
    start_table,
    steps_table,
)
from freeflyer.tables import Table, html_tables
from freeflyer.text import microseconds as us, short_repr


@dataclass(frozen=True)
class Bench:
    """`floor`: us a call of the smallest function on a robot of one joint, and of an empty Python function."""

    machine: Machine
    floor: tuple[float, float] | None
    robots: tuple[RobotTimings, ...]
    batches: tuple[BatchPoint, ...]
    scaling: tuple[ScalingPoint, ...]
    start: Start | None
    steps: tuple[StepTiming, ...] = ()
    solvers: tuple[SolverTiming, ...] = ()
    hierarchies: tuple[HierarchyTiming, ...] = ()
    control: ControlTimings | None = None

    __repr__ = short_repr

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        return html_tables(self.conditions(), self.tables())

    def conditions(self) -> str:
        """The machine, its versions, and what a call costs at least."""
        m = self.machine
        versions = ", ".join(f"{k} {v}" for k, v in m.versions.items())
        line = f"{m.cpu}, {m.cores} cores, {m.architecture}, {m.system}, Python {m.python}; {versions}"
        if not self.floor:
            return line
        least, empty = self.floor
        call = f"a call of gravity_forces on a robot of one joint takes {us(least)} us"
        return f"{line}; {call}, of an empty Python function {us(empty)}"

    def tables(self) -> list[Table]:
        """A table for whatever was measured."""
        tables = []
        for robot in self.robots:
            tables.append(robot_table(robot))
            if robot.closed is not None:
                tables.append(closed_table(robot.robot, robot.closed))
        tables += [batches_table(name, self.batches) for name in dict.fromkeys(p.robot for p in self.batches)]
        tables += [scaling_table(self.scaling)] if self.scaling else []
        tables += [steps_table(self.steps)] if self.steps else []
        tables += [solvers_table(self.solvers)] if self.solvers else []
        tables += [hierarchies_table(self.hierarchies)] if self.hierarchies else []
        tables += self.control.tables() if self.control else []
        return tables + ([start_table(self.start)] if self.start else [])
