"""A finding of a check: severity, code, subject, one sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

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
        values: The measured numbers behind the sentence, by name.

    Examples:
        >>> finding = ff.analysis.check_description(ff.robots.kangaroo_like().description)[0]
        >>> finding.severity, finding.code, finding.subject, finding.sentence
        ('note', 'limits-missing', 'left_yaw_housing', 'it has no velocity and effort limits')
    """

    severity: Severity
    code: str
    subject: str
    sentence: str
    values: dict[str, float] = field(default_factory=dict)


def sort_by_severity(findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings ordered by severity, otherwise in the order they were found."""
    return tuple(sorted(findings, key=lambda f: SEVERITIES.index(f.severity)))
