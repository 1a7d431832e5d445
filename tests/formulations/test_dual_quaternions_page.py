"""The Python of docs/dual_quaternions.md runs as it stands, in order, and its counts are those that are counted."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from freeflyer_papers.dual_quaternion import counts
from freeflyer_papers.dual_quaternion.tables import formula

PAGE = Path(__file__).parents[2] / "docs" / "dual_quaternions.md"


def test_the_page_runs():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    s, ds, m, g = 0.3, 1.0, 2.0, 9.81
    slope = m * 0.1 * np.cos(s) * -0.1 * np.sin(s) * ds**2  # of the kinetic energy (0.01 + m (0.1 cos s)^2) s'^2 / 2
    assert np.isclose(names["force"], slope + m * g * 0.1 * np.cos(s), rtol=1e-12)


def test_the_page_shows_what_is_counted():
    text = PAGE.read_text(encoding="utf-8").replace("³", "^3").replace("²", "^2")
    shown = [c for c in counts.counts() if c.joints != "revolute" or (c.line, c.algorithm) == ("dqNE", "ours")]
    assert len(shown) == 7
    for c in shown:
        assert f"| {formula(c.multiplications)} | {formula(c.additions)} |" in text, c
