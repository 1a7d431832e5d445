"""Findings of a check, one sentence each; how far open each loop is, in the directions that it ties; and the tables of a check."""

from __future__ import annotations

from collections import Counter, namedtuple
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.analysis.checks.laws import Identity
from freeflyer.errors import FreeflyerError
from freeflyer.linkages import close_loops, constraint_residual
from freeflyer.model import Model, neutral, one_row
from freeflyer.tables import Table
from freeflyer.tolerances import CLOSED_GAP

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """Finding of a check: severity, code, subject, one sentence.

    Attributes:
        severity: "error", "warning" or "note". The numbers cannot be right; look at it; good to know.
        code: The kind of finding (several links may share one).
        subject: The link, joint, loop or robot that it is about.
        sentence: The finding, with its numbers.
        values: The measured numbers behind the sentence, by name."""

    severity: Severity
    code: str
    subject: str
    sentence: str
    values: dict[str, float] = field(default_factory=dict)


def sort_by_severity(findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings ordered by severity, otherwise in the order they were found."""
    return tuple(sorted(findings, key=lambda f: SEVERITIES.index(f.severity)))


SHOWN_PER_CODE = 5  # sentences
NAMED = 3  # subjects of a sentence


def identities_table(identities: Sequence[Identity]) -> Table:
    """Last cell: "holds" or "fails"."""
    rows = [(x.law, x.meaning, f"{x.residual:.1e}", f"{x.tolerance:.0e}", "holds" if x.holds else "fails")
        for x in identities]  # fmt: skip
    columns = ("law", "meaning", "residual", "tolerance", "")
    return Table("identities at random states (relative residuals)", columns, rows, (2, 3))


def findings_table(findings: Sequence[Finding], most: int | None = SHOWN_PER_CODE) -> Table:
    """Findings that differ in their subjects alone share a row, unless `most` is None. First cell: the severity, or nothing where
    rows beyond `most` of a code are counted."""
    groups, more = ([(f, [f.subject]) for f in findings], {}) if most is None else alike(findings, most)
    rows = [(str(f.severity), listed(subjects), f.sentence) for f, subjects in groups]
    rows += [("", code, f"... and {n} more like this") for code, n in more.items()]
    return Table("findings", ("severity", "subject", "finding"), rows)


def alike(findings: Sequence[Finding], most: int) -> tuple[list[tuple[Finding, list[str]]], dict[str, int]]:
    """Findings of one sentence as (the first of them, the subjects of all), at most `most` groups of a code; how many findings are
    beyond that, by code."""
    groups: dict[tuple[str, str, str], tuple[Finding, list[str]]] = {}
    for f in findings:
        groups.setdefault((f.severity, f.code, f.sentence), (f, []))[1].append(f.subject)
    kept, more, seen = [], Counter[str](), Counter[str]()
    for f, subjects in groups.values():
        seen[f.code] += 1
        if seen[f.code] <= most:
            kept.append((f, subjects))
        else:
            more[f.code] += len(subjects)
    return kept, dict(more)


def listed(subjects: Sequence[str]) -> str:
    """The first subjects by name, the others counted."""
    named = len(subjects) if len(subjects) <= NAMED + 1 else NAMED  # one name is no longer than "and 1 more"
    return ", ".join(subjects[:named]) + f" and {len(subjects) - named} more" * (named < len(subjects))


class Gap(namedtuple("Gap", "loop frame_a frame_b position angle")):
    """Opening of a loop, counting only its tied directions.

    Attributes:
        loop, frame_a, frame_b: Names.
        position: Distance of the frames' origins along the tied directions, m.
        angle: Angle of the turn from frame_a to frame_b that the loop ties, rad. If one turn is free, it is the angle between the
            free axes of frame_a and frame_b. If only one is tied, it is its entry of the rotation vector."""

    @property
    def is_closed(self) -> bool:
        return self.position <= CLOSED_GAP and self.angle <= CLOSED_GAP


def loop_gaps(model: Model, q: ArrayLike) -> tuple[Gap, ...]:
    """Openings of all loops at a posture q (nq,), in the order of model.loops: the lengths of the linear and of the angular rows of
    constraint_residual. Couplings are not among them."""
    model = model.tree
    residual, first, found = constraint_residual(model, one_row(model, "q", q, "q")), 0, []
    for loop in model.loops:
        shifts, turns = sum(loop.mask[:3]), sum(loop.mask[3:])
        shift, turn = residual[first : first + shifts], residual[first + shifts : first + shifts + turns]
        found.append(Gap(loop.name, loop.frame_a, loop.frame_b, float(np.linalg.norm(shift)), float(np.linalg.norm(turn))))
        first += shifts + turns
    return tuple(found)


def with_loops_closed(model: Model) -> tuple[Any, str]:
    """(the model with its loops closed, ""), or (its tree, why they cannot be)."""
    try:
        return close_loops(model), ""
    except FreeflyerError as error:
        return model.tree, str(error)


def loop_findings(model: Model, open_because: str = "") -> Iterator[Finding]:
    """Loops that are open at the tree's neutral posture, or stay open when assembled; and in which velocities the laws are held."""
    if not model.constraint_rows[0]:
        return
    postures = [("open-loop", model.tree, "at the neutral posture of the tree it is open by {}: assemble the linkage before using "
        "results of the tree there")]  # fmt: skip
    if model.reduction:
        postures.append(("redundant-loop", model, "assembled, it still is open by {}: more directions are tied than the others "
            "leave free, and they contradict each other (rounded digits, for one)"))  # fmt: skip
    for code, drawn, sentence in postures:
        for gap in loop_gaps(model, neutral(drawn)):
            if not gap.is_closed:
                values = {"position": gap.position, "angle": gap.angle}
                yield Finding("warning", code, gap.loop, sentence.format(_size(gap)), values)
    if model.reduction:
        sentence = (f"its loops are closed: of {model.tree.nv} velocities {model.nv} are independent, and the laws hold in "
            "these (freeflyer.close_loops)")
        yield Finding("note", "loops-closed", model.name, sentence, {"independent": float(model.nv)})
    else:
        sentence = f"its loops cannot be closed, the laws are those of the tree: {open_because}"
        yield Finding("error", "loops-not-closed", model.name, sentence)


def _size(gap: Gap) -> str:
    angle = f" and {gap.angle:.3g} rad" if gap.angle > CLOSED_GAP else ""
    return f"{gap.position * 1e3:.4g} mm{angle} between {gap.frame_a!r} and {gap.frame_b!r}"
