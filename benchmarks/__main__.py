"""`python -m benchmarks`: the tables of `freeflyer bench` beside other libraries, and recorded hierarchies beside their solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import typer

import freeflyer as ff
from benchmarks.hierarchies import HierarchyTiming, hierarchies_table, hierarchy_times
from benchmarks.peers import PEERS
from freeflyer.analysis.timing.measured import Bench
from freeflyer.cli.options import BaseOption, DebugOption, JsonOption, LoopsOption
from freeflyer.cli.output import show_error
from freeflyer.cli.tools import (
    BatchOption,
    BlocksOption,
    Part,
    PartsOption,
    PlotOption,
    RobotsArgument,
    ThreadsOption,
    run_bench,
    wanted_parts,
)  # fmt: skip
from freeflyer.progress import Progress
from freeflyer.tables import Table


@dataclass(frozen=True, repr=False)
class ComparedBench(Bench):
    """A benchmark beside other libraries, with the times of recorded hierarchies."""

    hierarchies: tuple[HierarchyTiming, ...] = ()

    def tables(self) -> list[Table]:
        """A table for whatever was measured."""
        return super().tables() + ([hierarchies_table(self.hierarchies)] if self.hierarchies else [])


def benchmarks(robots: RobotsArgument = None, parts: PartsOption = None, plot: PlotOption = None, batch: BatchOption = 4096,
        threads: ThreadsOption = 2, blocks: BlocksOption = 15, base: BaseOption = None, loops: LoopsOption = None,
        json: JsonOption = None, debug: DebugOption = False) -> None:  # fmt: skip
    """Time freeflyer beside Pinocchio, MuJoCo, TSID, pink and mink, in turns; recorded hierarchies beside cascades of solvers."""

    def with_hierarchies(result: Bench, progress: Progress) -> Bench:
        levels = hierarchy_times(progress) if Part.solvers in wanted_parts(robots, parts) else ()
        return ComparedBench(**vars(result), hierarchies=levels)

    try:
        run_bench(robots, parts, plot, batch, threads, blocks, base, loops, json, PEERS, with_hierarchies)
    except ff.FreeflyerError as error:
        if debug:
            raise
        show_error(str(error))
        raise typer.Exit(2) from None


app: Any = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(benchmarks)

if __name__ == "__main__":
    app(prog_name="python -m benchmarks")
