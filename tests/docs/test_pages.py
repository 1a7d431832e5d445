"""The code of every page of docs/ runs as it stands, and what it prints is what the page shows."""

import ast
import freeflyer as ff
import numpy as np
import pytest
import re
import shutil
from collections.abc import Callable
from freeflyer.model.description import JOINT_KINDS
from page_blocks import blocks, indented, name_of, pages, run_page
from pathlib import Path
from robots_on_disk import MODELS
from typing import Any

ELSEWHERE = {"export.md": "export/test_export_command.py"}  # pages whose blocks another file runs
NEEDS = {"reduced_control.md": "tocabi/tocabi.urdf"}  # files of FREEFLYER_MODELS that stand beside the reader's code
EXTRAS = {"beyond_one_machine.md": "distributed", "viewer.md": "viser"}  # packages that only a page's code needs
LEAVES = {"walking.md": "squat.png"}  # pictures that a page's code draws
COMMANDS = ("freeflyer ", "pip ", "python ", "git ", "cc ")
SYMBOLIC = ("l**2*m_11*cos(q1) + l**2*(m_02 + 5*m_11)/4 g*l*m_11*cos(q1 + theta)/2", "0.4905*m*sin(q1)*cos(q0)",
            "void hopper(const double *q, const double *v, ",
            "<freeflyer.symbolic.Routine: q, v, a, m -> tau (9,), ")  # fmt: skip


def constrained_motion(names: dict[str, Any], shown: list[str]) -> bool:
    assert float(shown[0].split()[0]) == pytest.approx(0.4)
    assert shown[1].startswith("3 (")
    assert "root_joint sideways" in shown[2]
    assert "'row 1' depends on rows before it and contradicts them by 0.5" in shown[3]
    assert "10 rows for 9 freedoms" in shown[3]
    assert float(shown[4]) < 1e-12
    carried, weight = map(float, shown[5].split()[-2:])
    assert carried == pytest.approx(weight, rel=1e-6)
    return bool(np.isfinite(names["found"].slack[:4]).all())


def dual_quaternions(names: dict[str, Any], shown: list[str]) -> bool:
    s, ds, m, g = 0.3, 1.0, 2.0, 9.81
    slope = m * 0.1 * np.cos(s) * -0.1 * np.sin(s) * ds**2  # of the kinetic energy (0.01 + m (0.1 cos s)^2) s'^2 / 2
    return np.isclose(names["force"], slope + m * g * 0.1 * np.cos(s), rtol=1e-12)


CLAIMS: dict[str, Callable[[dict[str, Any], list[str]], bool]] = {  # of names and printed text that no block "Output" shows
    "whole_body_control.md": lambda names, shown: names["solution"].status == "solved" and not names["run"].fell,
    "hopping.md": lambda names, _: names["gait"].stable and names["forward"].failure is None and names["forward"].q[-1, 0] > 0.5,
    "symbolic.md": lambda names, shown: all(said in "".join(shown) for said in SYMBOLIC),
    "constrained_motion.md": constrained_motion, "dual_quaternions.md": dual_quaternions,
}  # fmt: skip


def runs(page: Path) -> bool:
    return name_of(page) not in ELSEWHERE and any(block.language != "text" for block in blocks(page))


@pytest.mark.slow
@pytest.mark.parametrize("page", filter(runs, pages()), ids=name_of)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if name_of(page) in EXTRAS:
        pytest.importorskip(EXTRAS[name_of(page)])
    if any(block.text.startswith("cc ") or "\ncc " in block.text for block in blocks(page)) and shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    if needed := NEEDS.get(name_of(page)):
        source = MODELS / needed
        if not source.is_file():
            pytest.skip(f"no {needed} in {MODELS}: set FREEFLYER_MODELS")
        (tmp_path / source.name).symlink_to(source)
    names = run_page(page, tmp_path)
    assert name_of(page) not in CLAIMS or CLAIMS[name_of(page)](names, names["printed"])
    if picture := LEAVES.get(name_of(page)):
        assert (tmp_path / picture).stat().st_size > 10_000


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_code_and_commands(page: Path) -> None:
    """So that it runs: a block that is indented alone is no Python with calls or assignments, and no command."""
    if name_of(page) not in ELSEWHERE:
        check_fences(page)
    from freeflyer.cli.app import app
    from typer.main import get_command

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    named = re.findall(r"(?:`|^(?: {4})?)freeflyer ([a-z]+)(?=[ `\n])", page.read_text(), re.MULTILINE)
    assert set(named) <= known


def check_fences(page: Path) -> None:
    assert sum(line.lstrip().startswith("```") for line in page.read_text().splitlines()) == 2 * len(blocks(page)), "other fences"
    for text in indented(page):
        assert not any(line.startswith(COMMANDS) for line in text.splitlines()), text
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        assert not any(isinstance(node, ast.Call | ast.Assign | ast.Import) for node in ast.walk(tree)), text


def test_the_page_of_conventions_names_every_joint_kind_and_functions_that_exist() -> None:
    text = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text()
    assert all(kind in text for kind in JOINT_KINDS)
    words = (w.strip(".();") for w in text.replace("`", " ").replace(",", " ").split() if w.startswith("spatial."))
    for _, module, function in (w.split(".")[:3] for w in words if w.count(".") > 1):
        assert function in getattr(ff.spatial, module).__all__, (module, function)
