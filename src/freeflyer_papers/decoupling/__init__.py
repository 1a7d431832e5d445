"""Decoupling thesis, "Formulation of Decoupled Dynamics for Efficient Control of Floating Base Robots": chapters 2 to 4, appendix
A.

Propositions and lemmas as residuals on robots made by code, momentum in free flight, the frame of the locked velocity, times, and
external and internal motion regulated apart; all experiments of the hopping legs; the symbolic toolbox and its sample program."""

from __future__ import annotations

from typing import Any

from freeflyer.progress import Progress
from freeflyer_papers.decoupling.results import DecouplingResult
from freeflyer_papers.paper import Reproduction

__all__ = ["REPRODUCTION", "DecouplingResult", "compute"]


def compute(progress: Progress) -> DecouplingResult:
    """All of it; three minutes."""
    from freeflyer_papers.decoupling import appendix, hopping, theory

    return DecouplingResult(theory.compute(progress), hopping.compute(progress), appendix.compute(progress))


def _tables(result: Any) -> Any:
    from freeflyer_papers.decoupling import appendix_tables, hopping_tables, theory_tables

    parts = theory_tables.tables(result.theory), hopping_tables.tables(result.hopping), appendix_tables.tables(result.appendix)
    return [table for part in parts for table in part]


def _pictures(result: Any) -> Any:
    from freeflyer_papers.decoupling import hopping_pictures, theory_pictures

    return {**theory_pictures.pictures(result.theory), **hopping_pictures.pictures(result.hopping)}


REPRODUCTION = Reproduction(
    "decoupling", "Formulation of Decoupled Dynamics for Efficient Control of Floating Base Robots", compute, _tables, _pictures
)
