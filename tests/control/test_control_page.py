"""The Python of docs/whole_body_control.md runs as it stands, in order, and says what it says."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "whole_body_control.md"


def test_the_page_runs() -> None:
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(code) == 4
    names: dict[str, object] = {}
    for block in code:
        exec(compile(block, PAGE.name, "exec"), names)
    assert names["solution"].status == "solved"  # type: ignore[attr-defined]
    assert not names["run"].fell  # type: ignore[attr-defined]
