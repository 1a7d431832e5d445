"""Checks of a robot: its description, and the laws of its dynamics."""

from __future__ import annotations

from dataclasses import dataclass

from freeflyer.analysis.checks.closure import loop_findings, with_loops_closed
from freeflyer.analysis.checks.findings import SEVERITIES, Finding, Severity, sort_by_severity
from freeflyer.analysis.checks.inertias import inertia_findings
from freeflyer.analysis.checks.laws import NEED_REGULAR, Identity, identities
from freeflyer.analysis.checks.limits import limit_findings
from freeflyer.analysis.checks.singular import singular_findings
from freeflyer.analysis.checks.tables import findings_table, identities_table
from freeflyer.model.description import Description
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tables import html_tables
from freeflyer.text import count, visible


@dataclass(frozen=True)
class Check:
    """Findings of a check, and the identities with their residuals.

    Attributes:
        findings: Worst first.
        identities: In the velocities of the closed robot, where its loops can be closed.

    Examples:
        >>> found = ff.analysis.check(ff.robots.chain(3))
        >>> found.verdict()
        'chain_3: 0 errors, 0 warnings, 0 notes'
        >>> found.has_errors, len(found.identities)
        (False, 12)
    """

    robot: str
    findings: tuple[Finding, ...]
    identities: tuple[Identity, ...]

    def count(self, severity: Severity) -> int:
        return sum(f.severity == severity for f in self.findings)

    @property
    def has_errors(self) -> bool:
        return self.count("error") > 0

    def verdict(self) -> str:
        """The robot, and how many findings there are of each severity."""
        return f"{visible(self.robot)}: {', '.join(count(self.count(s), s) for s in SEVERITIES)}"

    def _repr_html_(self) -> str:
        findings = [findings_table(self.findings)] if self.findings else []
        return html_tables(self.verdict(), [identities_table(self.identities), *findings])


@public
def check(model: Model, *, seed: int = 0) -> Check:
    """Check of a robot: findings of its description, and the identities of dynamics on random states.

    Args:
        model: With loops it is evaluated with these closed, if they can be.
        seed: Seed of the random states.
    Returns: Check. Findings and identities.

    Examples:
        >>> ff.analysis.check(ff.robots.humanoid()).verdict()
        'humanoid_33: 0 errors, 0 warnings, 0 notes'
    """
    model, open_because = with_loops_closed(model)
    laws, singular = identities(model, seed=seed), list(singular_findings(model, seed))
    explained = NEED_REGULAR if singular else ()
    findings = [
        *check_description(model.description),
        *singular,
        *loop_findings(model, open_because),
        *(_broken(model, law) for law in laws if not law.holds and law.law not in explained),
    ]
    return Check(model.name, sort_by_severity(findings), laws)


@public
def check_description(description: Description) -> tuple[Finding, ...]:
    """Findings of a description without its model: inertias, units, limits, couplings, notes of the reader.

    Returns: tuple of Finding, worst first.

    Examples:
        >>> from dataclasses import replace
        >>> robot = ff.robots.chain(1).description
        >>> base, link = robot.links[:2]
        >>> wrong = replace(link, inertia=replace(link.inertia, mass=-1.0))
        >>> found = ff.analysis.check_description(replace(robot, links=(base, wrong, *robot.links[2:])))
        >>> found[0].severity, found[0].subject, found[0].sentence
        ('error', 'link_1', 'its mass is -1 kg: a mass cannot be negative')
    """
    findings = [*inertia_findings(description), *limit_findings(description)]
    for coupling in description.couplings:
        listed = ", ".join(f"{c:.4g}" for c in coupling.coefficients)
        sentence = (
            f"it ties {coupling.joint1!r} to {coupling.joint2 or 'a constant'!r} by a polynomial ({listed}) that no "
            "mimic joint can follow: it is kept but not enforced"
        )
        findings.append(Finding("warning", "coupling", coupling.name, sentence))
    findings += [Finding("note", "reader", description.name, note) for note in description.notes]
    return sort_by_severity(findings)


def _broken(model: Model, law: Identity) -> Finding:
    sentence = f"{law.law} ({law.meaning}) fails: residual {law.residual:.3g}, tolerance {law.tolerance:.1g}"
    values = {"residual": law.residual, "tolerance": law.tolerance}
    return Finding("error", "identity", model.name, sentence, values)
