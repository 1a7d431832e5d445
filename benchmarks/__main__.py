"""`python -m benchmarks`: the tables of `freeflyer bench` beside other libraries, solvers of quadratic programs and of recorded
hierarchies, TALOS beside TSID, pink and mink, robots on ground."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Annotated, Any

import typer

import freeflyer as ff
from benchmarks.beside import (
    Beside,
    ClosedBeside,
    StepBeside,
    batches_beside,
    beside_table,
    closed_beside,
    closed_table,
    scaling_beside,
    steps_beside,
    steps_table,
    time_beside,
)
from benchmarks.generated_code import GeneratedTiming, generated_table, generated_times
from benchmarks.ground import GroundTiming, ground_table, ground_times
from benchmarks.hierarchies import HierarchyTiming, hierarchies_table, hierarchy_times
from benchmarks.peers import SOLVERS
from benchmarks.solvers import SolverTiming, solver_times, solvers_table
from benchmarks.standing import Standings, talos_times
from benchmarks.tsid_peer import tsid_contestants
from freeflyer.analysis.timing.algorithms import default_robots
from freeflyer.analysis.timing.measured import PARTS, Bench
from freeflyer.analysis.timing.runner import NAMES, Effort
from freeflyer.cli.options import BaseOption, DebugOption, JsonOption, LoopsOption
from freeflyer.cli.output import show_error
from freeflyer.cli.tools import BatchOption, BlocksOption, PlotOption, RobotsArgument, SpecializeOption, ThreadsOption, run_bench
from freeflyer.progress import Progress
from freeflyer.tables import Table

Part: Any = StrEnum("Part", [*PARTS, "solvers", "ground", "generated"])
PartsOption = Annotated[list[Part] | None, typer.Option("--part", help="Only this table; may be repeated.",
    show_default="all without ROBOT, else robots")]  # fmt: skip


@dataclass(frozen=True, repr=False)
class ComparedBench(Bench):
    """A benchmark beside other libraries, with solvers, recorded hierarchies and TALOS on two feet."""

    beside: tuple[Beside, ...] = ()
    closed_beside: tuple[ClosedBeside, ...] = ()
    batches_beside: tuple[Beside, ...] = ()
    scaling_beside: tuple[Beside, ...] = ()
    steps_beside: tuple[StepBeside, ...] = ()
    solvers: tuple[SolverTiming, ...] = ()
    hierarchies: tuple[HierarchyTiming, ...] = ()
    talos: Standings | None = None
    ground: tuple[GroundTiming, ...] = ()
    generated: tuple[GeneratedTiming, ...] = ()

    def tables(self) -> list[Table]:
        """A table for whatever was measured."""
        found = super().tables() + [beside_table(x.robot, [x]) for x in self.beside] + list(map(closed_table, self.closed_beside))
        for name in dict.fromkeys(x.robot for x in self.batches_beside):
            found.append(beside_table(f"{name}: batches", [x for x in self.batches_beside if x.robot == name]))
        found += [beside_table("scaling: chains", self.scaling_beside)] if self.scaling_beside else []
        found += [steps_table(self.steps_beside)] if self.steps_beside else []
        found += [solvers_table(self.solvers)] if self.solvers else []
        found += [hierarchies_table(self.hierarchies)] if self.hierarchies else []
        found += [ground_table(self.ground)] if self.ground else []
        found += [generated_table(self.generated)] if self.generated else []
        return found + (self.talos.tables() if self.talos else [])


def benchmarks(robots: RobotsArgument = None, parts: PartsOption = None, plot: PlotOption = None, batch: BatchOption = 4096,
        threads: ThreadsOption = 2, blocks: BlocksOption = 15, specialize: SpecializeOption = False, base: BaseOption = None,
        loops: LoopsOption = None, json: JsonOption = None, debug: DebugOption = False) -> None:  # fmt: skip
    """Time freeflyer beside Pinocchio, MuJoCo, TSID, pink and mink, in turns; solvers beside each other."""
    wanted = {str(part) for part in parts or (["robots"] if robots else Part)}

    def with_more(result: Bench, named: list[ff.Model], effort: Effort, progress: Progress) -> Bench:
        qp = "solvers" in wanted
        models = named or list(default_robots() if "robots" in wanted else islice(default_robots(), 1))
        closed = (closed_beside(model, effort, progress) for model in models) if "robots" in wanted else ()
        return ComparedBench(**vars(result),
            beside=tuple(time_beside(x, effort, NAMES, progress) for x in models) if "robots" in wanted else (),
            closed_beside=tuple(x for x in closed if x is not None),
            batches_beside=batches_beside(named or models[:1], effort, progress) if "batches" in wanted else (),
            scaling_beside=scaling_beside(progress) if "scaling" in wanted else (),
            steps_beside=steps_beside(named or models[:1], blocks, progress) if "simulation" in wanted else (),
            solvers=solver_times(blocks, Effort().block_seconds, progress) if qp else (),
            hierarchies=hierarchy_times(progress) if qp else (),
            talos=talos_times(tsid_contestants, SOLVERS) if "control" in wanted else None,
            ground=ground_times(progress) if "ground" in wanted else (),
            generated=generated_times(progress) if "generated" in wanted else ())  # fmt: skip

    try:
        run_bench(robots, wanted, plot, batch, threads, blocks, specialize, base, loops, json, with_more)
    except ff.FreeflyerError as error:
        if debug:
            raise
        show_error(str(error))
        raise typer.Exit(2) from None


app: Any = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(benchmarks)

if __name__ == "__main__":
    app(prog_name="python -m benchmarks")
