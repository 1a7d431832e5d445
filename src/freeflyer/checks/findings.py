"""A finding of a check: severity, code, subject, one sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One thing found. `error`: the numbers cannot be right; `warning`: look at it; `note`: good to know.

    `code` names the kind of finding (several links may share one), `subject` the link, joint or loop it is about, and
    `values` the measured numbers behind the sentence.
    """

    severity: Severity
    code: str
    subject: str
    sentence: str
    values: dict[str, float] = field(default_factory=dict)


def sort_by_severity(findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings ordered by severity, otherwise in the order they were found."""
    return tuple(sorted(findings, key=lambda f: SEVERITIES.index(f.severity)))
