"""The tables of appendix A in `freeflyer reproduce decoupling`, from a result."""

from __future__ import annotations

from freeflyer.tables import Table
from freeflyer_papers.decoupling.appendix import BOUND, STATES, AppendixResult


def tables(r: AppendixResult) -> tuple[Table, ...]:
    """Functions of table A.1, outputs of the sample program, its tests, integrability."""
    return _functions(r), _outputs(r), _tests(r), _integrability(r)


def _verdict(error: float) -> str:
    return "holds" if error <= BOUND else "FAILS"


def _functions(r: AppendixResult) -> Table:
    rows = [
        (f.thesis, f.ours, *(("-", f.beside, "") if f.residual is None else (f"{f.residual:.1e}", f.beside, _verdict(f.residual))))
        for f in r.functions
    ]
    return Table(
        "Table A.1: functions of the symbolic toolbox", ("thesis", "ours, in freeflyer.symbolic", "difference", "from", ""),
        rows, (2,),
        "At a random state of the revolute hopper, the frame of its shank against the world. timederivative is not in the table, "
        "but in the program.",
    )  # fmt: skip


def _outputs(r: AppendixResult) -> Table:
    rows = [(o.name, " x ".join(map(str, o.shape)) or "number", f"{o.error:.1e}", _verdict(o.error)) for o in r.outputs]
    return Table(
        "A.2.1: outputs of the sample program (lines 326-350) as one NumPy function",
        ("thesis's name", "size", "difference from kernels", ""), rows, (2,),
        f"{STATES} random states, relative to the largest entry; Cbp by Cbp v, for its matrix is one of many. Formulas in "
        f"{r.program_time:.1f} s, printed in {r.printing_time:.1f} s, {r.steps} common subexpressions. The thesis prints no "
        "outputs but the angle below.",
    )  # fmt: skip


def _tests(r: AppendixResult) -> Table:
    rows = [(f"lines 309-324: {text}", "proved" if holds else "FAILS") for text, holds in r.tests]
    proved = "proved" if r.rate_is_printed else "FAILS"
    rows += [
        ("lines 224-229: w_bc = (A + B cos q1) / (a + b cos q1) qdot1 with the printed A, B, a, b", proved),
        ("line 228: theta_bc within half a turn of the knee", f"{r.angle_error:.1e}: {_verdict(r.angle_error)}"),
        ("line 228 at q1 = 180 deg: atan(tan(q1 / 2)) jumps; ours goes on", f"{r.angle_jump:.3f} rad"),
        ("line 287 as printed, h_inertc = A_ic^-T h_b: differs from the centroidal momentum by", f"{r.momentum_error:.1e}"),
        ("(4.24) as printed, J_r(i_o_cf) R_cf: differs from the rate of r_cf by", f"{r.radial_error:.1e}"),
    ]
    return Table(
        "A.2.1: consistency tests and printed formulas", ("paper", "ours"), rows, (),
        "Line 287 must be A_cb^-T h_b with H_cb = [R_ib, o_ib - o_ic]; the program's J_r(o_cf) (line 306) is right, (4.24) is not.",
    )  # fmt: skip


def _integrability(r: AppendixResult) -> Table:
    rows = [
        (i.robot, str(i.joints), "always" if i.joints == 1 else "generally not", "yes" if i.integrable else "no")
        for i in r.integrability
    ]
    return Table("(3.73) in symbols: is the frame of the locked velocity a function of the posture?",
                 ("robot", "joints", "paper", "integrable"), rows, (1,))  # fmt: skip
