"""The Python of docs/symbolic.md runs as it stands, in order, and prints what its comments say."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "symbolic.md"


def test_the_page_runs(capsys) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 6
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    printed = capsys.readouterr().out
    for said in (
        "l**2*m_11*cos(q1) + l**2*(m_02 + 5*m_11)/4 g*l*m_11*cos(q1 + theta)/2", "0.4905*m*sin(q1)*cos(q0)",
        "void hopper(const double *q, const double *v, ", "<freeflyer.symbolic.Routine: q, v, a, m -> tau (9,), ",
    ):  # fmt: skip
        assert said in printed
