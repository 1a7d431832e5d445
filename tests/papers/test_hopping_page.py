"""The page on hopping: its Python blocks run, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "hopping.md"


def test_blocks_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    assert len(blocks) == 3
    names: dict = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert names["gait"].stable
    assert names["forward"].failure is None
    assert names["forward"].q[-1, 0] > 0.5
