"""Tables 1 and 2: rows of each level, counted in the programs that are solved, beside the paper's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer_papers.reduced_wbc.stances import Stance
from freeflyer_papers.reduced_wbc.two_programs import Lqp, Rows, conventional_program, second_program, split_program

PROGRAMS = ("conventional", "LQP 1", "LQP 2")
VARIABLES = "decision variables"
WORDS = {
    "dynamics": "dynamics", "TorqueLimits": "torque limits", "contacts": "contacts", "AccelerationLimits": "acceleration limits",
    "CenterOfMassTask": "centre of mass", "FrameOrientationTask": "pelvis orientation", "FramePoseTask": "end effectors",
    "centroidal accelerations": "centroidal accelerations",
}  # fmt: skip
# (priority, rows): n joints, c contacts, k end effectors, m = n_r, which Table 2 must mean as joints of the constraint chain + 6,
# u = n_uc
PAPER = {
    "conventional": {
        "dynamics": (1, "6"), "torque limits": (1, "2 n"), "contacts": (2, "6 c"), "cones": (2, "10 c"),
        "acceleration limits": (2, "2 n"), "centre of mass": (3, "3"), "pelvis orientation": (3, "3"), "end effectors": (4, "6 k"),
        VARIABLES: (0, "n + 6 + 6 c"),
    },
    "LQP 1": {
        "dynamics": (1, "6"), "torque limits": (1, "2 m"), "contacts": (2, "6 c"), "cones": (2, "10 c"),
        "acceleration limits": (2, "2 m"), "centre of mass": (3, "3"), "pelvis orientation": (3, "3"),
        VARIABLES: (0, "m + 6 + 6 c"),
    },
    "LQP 2": {
        "centroidal accelerations": (1, "6"), "torque limits": (1, "2 u"), "end effectors": (2, "6 k"),
        "acceleration limits": (2, "2 u"), VARIABLES: (0, "u"),
    },
}  # fmt: skip


@dataclass(frozen=True)
class Count:
    """Rows of one kind in one program, inequalities by their finite sides; levels from 1 on, 0 for variables. `formula`: the
    paper's, `paper` its number for this robot; `equations`: whether ours are."""

    support: str
    program: str
    rows: str
    level: int
    ours: int
    equations: bool
    paper_level: int
    formula: str
    paper: int


def counts(st: Stance) -> tuple[Count, ...]:
    """Of the conventional program and both reduced ones."""
    chains = st.problem.chains
    numbers = {
        "n": st.problem.model.nv - 6, "c": st.contacts, "k": st.ends, "m": len(chains.constraint) + 6,
        "u": len(chains.unconstrained),
    }  # fmt: skip
    found = []
    for name, program in zip(PROGRAMS, programs(st)):
        ours = _rows(program)
        for what, (level, formula) in PAPER[name].items():
            own_level, count, equations = ours.pop(what)
            paper = _value(formula, numbers)
            found.append(Count(st.support, name, what, own_level, count, equations, level, formula, paper))
        assert not ours, f"rows that the paper's {name} does not have: {list(ours)}"
    return tuple(found)


def programs(st: Stance) -> tuple[Lqp, Lqp, Lqp]:
    """The conventional program and both reduced ones at the posture, at rest; of the second one only the numbers in its rows depend
    on what the first one's answer is, here zero."""
    whole = conventional_program(st.problem, st.q, np.zeros(st.problem.model.nv))
    split = split_program(st.problem, st.q, whole)
    return whole, split.first, second_program(st.problem, whole, split, np.zeros(len(split.first.g)))


def _rows(p: Lqp) -> dict[str, tuple[int, int, bool]]:
    """(level, rows, whether they are equations) by their word, and the number of variables."""
    found: dict[str, tuple[int, int, bool]] = {VARIABLES: (0, len(p.g), False)}
    kept = [rows for rows in p.rows if len(rows.A)]
    levels = list(dict.fromkeys(rows.level for rows in kept))
    for rows in kept:
        k = levels.index(rows.level) + 1
        _, before, _ = found.get(_word(rows), (k, 0, rows.equations))
        sides = len(rows.A) if rows.equations else int(np.isfinite(rows.lower).sum() + np.isfinite(rows.upper).sum())
        found[_word(rows)] = (k, before + sides, rows.equations)
    return found


def _word(rows: Rows) -> str:
    return "cones" if rows.name.endswith(" cone") else WORDS[rows.name.partition("(")[0]]


def _value(formula: str, numbers: dict[str, int]) -> int:
    """Of a sum of terms such as "6 c", "n" or "6"."""
    return sum(int(np.prod([numbers[x] if x in numbers else int(x) for x in term.split()])) for term in formula.split(" + "))
