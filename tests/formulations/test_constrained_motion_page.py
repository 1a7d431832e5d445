"""The Python of docs/constrained_motion.md runs as it stands, in order, and its numbers are those it says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "constrained_motion.md"


def test_the_page_runs(capsys) -> None:
    names: dict[str, object] = {}
    shown = []
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, PAGE.name, "exec"), names)
        shown.append(capsys.readouterr().out)
    assert len(shown) == 6
    assert float(shown[0].split()[0]) == pytest.approx(0.4)
    assert shown[1].startswith("3 (")
    assert "root_joint sideways" in shown[2]
    assert "'row 1' depends on rows before it and contradicts them by 0.5" in shown[3]
    assert "10 rows for 9 freedoms" in shown[3]
    assert float(shown[4]) < 1e-12
    carried, weight = map(float, shown[5].split()[-2:])
    assert carried == pytest.approx(weight, rel=1e-6)
    assert np.isfinite(names["found"].slack[:4]).all()  # type: ignore[attr-defined]
