"""What the reproduction of the decoupling thesis computes."""

from __future__ import annotations

from dataclasses import dataclass

from freeflyer_papers.decoupling.appendix import AppendixResult
from freeflyer_papers.decoupling.hopping import HoppingResult
from freeflyer_papers.decoupling.theory import TheoryResult


@dataclass(frozen=True)
class DecouplingResult:
    """theory: chapters 2 and 3; hopping: chapter 4; appendix: A.2."""

    theory: TheoryResult
    hopping: HoppingResult
    appendix: AppendixResult
