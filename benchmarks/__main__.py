"""`python -m benchmarks`: the tables of `freeflyer bench` beside other libraries, solvers of quadratic programs and of recorded
hierarchies, TALOS beside TSID, pink and mink, robots on ground."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

import freeflyer as ff
from benchmarks.generated_code import GeneratedTiming, generated_table, generated_times
from benchmarks.ground import GroundTiming, ground_table, ground_times
from benchmarks.hierarchies import HierarchyTiming, hierarchies_table, hierarchy_times
from benchmarks.peers import PEERS, SOLVERS
from benchmarks.solvers import SolverTiming, solver_times, solvers_table
from benchmarks.standing import Standings, talos_times
from benchmarks.tsid_peer import tsid_contestants
from freeflyer.analysis.timing.measured import PARTS, Bench
from freeflyer.analysis.timing.runner import Effort
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

    solvers: tuple[SolverTiming, ...] = ()
    hierarchies: tuple[HierarchyTiming, ...] = ()
    talos: Standings | None = None
    ground: tuple[GroundTiming, ...] = ()
    generated: tuple[GeneratedTiming, ...] = ()

    def tables(self) -> list[Table]:
        """A table for whatever was measured."""
        found = super().tables() + ([solvers_table(self.solvers)] if self.solvers else [])
        found += [hierarchies_table(self.hierarchies)] if self.hierarchies else []
        found += [ground_table(self.ground)] if self.ground else []
        found += [generated_table(self.generated)] if self.generated else []
        return found + (self.talos.tables() if self.talos else [])


def benchmarks(robots: RobotsArgument = None, parts: PartsOption = None, plot: PlotOption = None, batch: BatchOption = 4096,
        threads: ThreadsOption = 2, blocks: BlocksOption = 15, specialize: SpecializeOption = False, base: BaseOption = None,
        loops: LoopsOption = None, json: JsonOption = None, debug: DebugOption = False) -> None:  # fmt: skip
    """Time freeflyer beside Pinocchio, MuJoCo, TSID, pink and mink, in turns; solvers beside each other."""
    wanted = {str(part) for part in parts or (["robots"] if robots else Part)}

    def with_more(result: Bench, progress: Progress) -> Bench:
        qp = "solvers" in wanted
        return ComparedBench(**vars(result),
            solvers=solver_times(blocks, Effort().block_seconds, progress) if qp else (),
            hierarchies=hierarchy_times(progress) if qp else (),
            talos=talos_times(tsid_contestants, SOLVERS) if "control" in wanted else None,
            ground=ground_times(progress) if "ground" in wanted else (),
            generated=generated_times(progress) if "generated" in wanted else ())  # fmt: skip

    try:
        run_bench(robots, wanted, plot, batch, threads, blocks, specialize, base, loops, json, PEERS, with_more)
    except ff.FreeflyerError as error:
        if debug:
            raise
        show_error(str(error))
        raise typer.Exit(2) from None


app: Any = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(benchmarks)

if __name__ == "__main__":
    app(prog_name="python -m benchmarks")
