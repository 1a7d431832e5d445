"""Chapters 2 and 3 of the decoupling thesis: what is computed."""

from __future__ import annotations

from dataclasses import dataclass

from freeflyer.progress import Progress
from freeflyer_papers.decoupling import com_frame, free_flight, propositions, regulation, times


@dataclass(frozen=True)
class TheoryResult:
    """statements: propositions and equations, as residuals. flights: momentum in free flight. frames: integrability, by the number
    of joints. paths: two ways to one posture. times: of a call. runs: external and internal motion regulated."""

    statements: tuple[propositions.Statement, ...]
    flights: tuple[free_flight.Flight, ...]
    frames: tuple[com_frame.Frames, ...]
    paths: tuple[com_frame.Path, ...]
    times: tuple[times.Time, ...]
    runs: tuple[regulation.Regulated, ...]


def compute(progress: Progress) -> TheoryResult:
    """All of chapters 2 and 3."""
    progress(0.0, "propositions of chapter 3")
    statements = propositions.statements()
    progress(0.0, "ten seconds of free flight")
    flights = free_flight.flights()
    progress(0.0, "the frame of the locked velocity")
    frames, paths = com_frame.frames(), com_frame.paths()
    progress(0.0, "times of a call")
    measured = times.times()
    progress(0.0, "external and internal motion, regulated apart")
    return TheoryResult(statements, flights, frames, paths, measured, regulation.runs())
