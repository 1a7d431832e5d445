"""Checks of a robot: what building its model leaves to judge in its description, and the laws of its dynamics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from freeflyer.analysis.checks import findings as F
from freeflyer.analysis.checks.inertias import inertia_findings, singular_findings
from freeflyer.analysis.checks.laws import NEED_REGULAR, Identity, identities
from freeflyer.model import WORLD, Description, Joint, Model, public
from freeflyer.tables import html_tables
from freeflyer.text import count, visible


@dataclass(frozen=True)
class Check:
    """Findings of a check, and the identities with their residuals.

    Attributes:
        findings: Worst first.
        identities: In the velocities of the closed robot, where its loops can be closed."""

    robot: str
    findings: tuple[F.Finding, ...]
    identities: tuple[Identity, ...]

    def count(self, severity: F.Severity) -> int:
        return sum(f.severity == severity for f in self.findings)

    @property
    def has_errors(self) -> bool:
        return self.count("error") > 0

    def verdict(self) -> str:
        """The robot, and how many findings there are of each severity."""
        return f"{visible(self.robot)}: {', '.join(count(self.count(s), s) for s in F.SEVERITIES)}"

    def _repr_html_(self) -> str:
        findings = [F.findings_table(self.findings)] if self.findings else []
        return html_tables(self.verdict(), [F.identities_table(self.identities), *findings])


@public
def check(model: Model, *, seed: int = 0) -> Check:
    """Check of a robot: findings of its description, and the identities of dynamics on random states.

    Args:
        model: With loops it is evaluated with these closed, if they can be.
        seed: Seed of the random states.

    Examples:
        >>> ff.analysis.check(ff.robots.humanoid()).verdict()
        'humanoid_33: 0 errors, 0 warnings, 0 notes'
    """
    model, open_because = F.with_loops_closed(model)
    laws, singular = identities(model, seed=seed), list(singular_findings(model, seed))
    explained = NEED_REGULAR if singular else ()
    findings = [*check_description(model.description), *singular, *F.loop_findings(model, open_because),
        *(F.Finding("error", "identity", model.name, f"{law.law} ({law.meaning}) fails: residual {law.residual:.3g}, tolerance "
            f"{law.tolerance:.1g}", {"residual": law.residual, "tolerance": law.tolerance})
          for law in laws if not law.holds and law.law not in explained)]  # fmt: skip
    return Check(model.name, F.sort_by_severity(findings), laws)


def check_description(description: Description) -> tuple[F.Finding, ...]:
    """Findings of a description without its model, worst first: inertias, units, limits, couplings, notes of the reader."""
    findings = [*inertia_findings(description), *limit_findings(description)]
    for coupling in description.couplings:
        listed = ", ".join(f"{c:.4g}" for c in coupling.coefficients)
        sentence = (f"it ties {coupling.joint1!r} to {coupling.joint2 or 'a constant'!r} by a polynomial ({listed}) that no "
            "mimic joint can follow: it is kept but not enforced")  # fmt: skip
        findings.append(F.Finding("warning", "coupling", coupling.name, sentence))
    findings += [F.Finding("note", "reader", description.name, note) for note in description.notes]
    return F.sort_by_severity(findings)


TURNING = ("revolute", "universal")  # kinds whose limits are angles, all coordinates
TWO_TURNS = 4 * np.pi


def limit_findings(description: Description) -> Iterator[F.Finding]:
    """Everything that can be said about the limits of moving joints; a mimic joint follows another and needs none."""
    for joint in description.joints:
        if joint.kind in ("fixed", "free") or joint.mimic is not None:
            continue
        yield from _position(joint)
        yield from _size(joint, "velocity", joint.velocity)
        yield from _size(joint, "effort", joint.effort)
    yield from _missing(description)


def _position(joint: Joint) -> Iterator[F.Finding]:
    for i, (lower, upper) in enumerate(zip(joint.lower, joint.upper, strict=False)):
        which = f" of coordinate {i}" if len(joint.lower) > 1 else ""
        values = {"lower": lower, "upper": upper}
        if lower == upper and joint.kind != "continuous":
            sentence = f"both its position limits{which} are {lower:.4g}: it cannot move; lock it or give it a range"
            yield F.Finding("warning", "limits-equal", joint.name, sentence, values)
        elif _like_degrees(joint, lower) or _like_degrees(joint, upper):
            sentence = f"its limits{which}, {lower:.6g} to {upper:.6g}, look like degrees: angles are in radians"
            yield F.Finding("warning", "limits-in-degrees", joint.name, sentence, values)
        elif lower > 0 or upper < 0:
            sentence = f"its neutral position 0 lies outside its limits{which}, {lower:.4g} to {upper:.4g}"
            yield F.Finding("warning", "neutral-outside-limits", joint.name, sentence, values)


def _like_degrees(joint: Joint, limit: float) -> bool:
    """More than two turns in radians, and less than ten turns in degrees."""
    return joint.kind in TURNING and bool(np.isfinite(limit)) and TWO_TURNS < abs(limit) <= 3600


def _size(joint: Joint, what: str, limits: tuple[float, ...]) -> Iterator[F.Finding]:
    for limit in limits:
        if limit == 0:
            sentence = f"its {what} limit is 0: if it is meant to be unlimited, leave the limit out"
            yield F.Finding("warning", f"{what}-limit-zero", joint.name, sentence, {what: limit})


def _missing(description: Description) -> Iterator[F.Finding]:
    """One note per joint about its missing limits."""
    for joint in description.joints:
        if joint.kind in ("fixed", "free", "spherical") or joint.parent == WORLD or joint.mimic is not None:
            continue
        kinds = {"position": joint.kind == "continuous" or (_has_limits(joint.lower) and _has_limits(joint.upper)),
            "velocity": _has_limits(joint.velocity), "effort": _has_limits(joint.effort)}  # fmt: skip
        lacking = [kind for kind, present in kinds.items() if not present]
        if lacking:
            listed = " and ".join(", ".join(lacking).rsplit(", ", 1))
            plural = "s" if len(lacking) > 1 else ""
            yield F.Finding("note", "limits-missing", joint.name, f"it has no {listed} limit{plural}")


def _has_limits(limits: tuple[float, ...]) -> bool:
    return len(limits) > 0 and not bool(np.any(np.isinf(limits)))
