"""Decoupling thesis, "Formulation of Decoupled Dynamics for Efficient Control of Floating Base Robots": chapters 2 to 4, appendix
A.

Propositions and lemmas as residuals on robots made by code, momentum in free flight, the frame of the locked velocity, times, and
external and internal motion regulated apart; all experiments of the hopping legs; the symbolic toolbox and its sample program."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from freeflyer.progress import Progress
from freeflyer_papers.decoupling import appendix, hopping, hopping_shown, theory
from freeflyer_papers.registry import Reproduction


class DecouplingResult(namedtuple("DecouplingResult", "theory hopping appendix")):
    """theory: chapters 2 and 3; hopping: chapter 4; appendix: A.2."""


def compute(progress: Progress) -> DecouplingResult:
    """All of it; three minutes."""
    return DecouplingResult(theory.compute(progress), hopping.compute(progress), appendix.compute(progress))


def _tables(result: Any) -> Any:
    parts = theory.tables(result.theory), hopping_shown.tables(result.hopping), appendix.tables(result.appendix)
    return [table for part in parts for table in part]


REPRODUCTION = Reproduction("decoupling", "Formulation of Decoupled Dynamics for Efficient Control of Floating Base Robots",
    compute, _tables, lambda result: theory.pictures(result.theory) | hopping_shown.pictures(result.hopping))  # fmt: skip
