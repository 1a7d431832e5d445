"""Findings of a check, one sentence each, and the tables of a check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from freeflyer.analysis.checks.laws import Identity
from freeflyer.tables import Table

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


def listed(subjects: Sequence[str], show: Callable[[str], str] = str) -> str:
    """The first subjects by name, the others counted."""
    named = len(subjects) if len(subjects) <= NAMED + 1 else NAMED  # one name is no longer than "and 1 more"
    return ", ".join(map(show, subjects[:named])) + f" and {len(subjects) - named} more" * (named < len(subjects))
