"""The tables of a check: its identities, and its findings, of which those that are alike are counted."""

from __future__ import annotations

from collections.abc import Sequence

from freeflyer.checks.findings import Finding
from freeflyer.checks.laws import Identity
from freeflyer.tables import Table

SHOWN_PER_CODE = 5


def identities_table(identities: Sequence[Identity]) -> Table:
    """Last cell: "holds" or "fails"."""
    rows = [
        (x.law, x.meaning, f"{x.residual:.1e}", f"{x.tolerance:.0e}", "holds" if x.holds else "fails") for x in identities
    ]
    columns = ("law", "meaning", "residual", "tolerance", "")
    return Table("identities at random states (relative residuals)", columns, rows, (2, 3))


def findings_table(findings: Sequence[Finding], most: int | None = SHOWN_PER_CODE) -> Table:
    """First cell: the severity, or nothing where findings beyond `most` of a code (None: all are listed) are counted."""
    rows, seen = [], dict[str, int]()
    for f in findings:
        seen[f.code] = seen.get(f.code, 0) + 1
        if most is None or seen[f.code] <= most:
            rows.append((str(f.severity), f.subject, f.sentence))
    more = {code: n - most for code, n in seen.items() if n > most} if most is not None else {}
    rows += [("", code, f"... and {n} more like this") for code, n in more.items()]
    return Table("findings", ("severity", "subject", "finding"), rows)
