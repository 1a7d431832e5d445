"""A benchmark as tables of text."""

from __future__ import annotations

from freeflyer.analysis.timing.results import (
    BatchPoint,
    ClosedTimings,
    RobotTimings,
    ScalingPoint,
    SolverTiming,
    Start,
    StepTiming,
    geometric_mean,
)
from freeflyer.analysis.timing.runner import CHAIN_ALGORITHMS, call_overhead, exponent
from freeflyer.tables import Table
from freeflyer.text import microseconds as us


def _times(x: float | None) -> str:
    return "-" if x is None else f"{x:.2f}x" if x < 10 else f"{x:.0f}x"


def robot_table(r: RobotTimings) -> Table:
    peer = next((t.peer for t in r.rows if t.peer), None)
    columns = ["algorithm", "us a call", "out=", "us a state", "fresh", f"{r.threads} threads", "gain"]
    if peer:
        columns += [f"{peer}: call", "batch", "faster: call", "batch", "agrees to"]
    rows = []
    for t in r.rows:
        row = [t.algorithm, us(t.call), us(t.call_out), us(t.batch), us(t.batch_fresh), us(t.batch_threads)]
        row += [_times(t.ratio_threads)]
        if peer:
            agreed = "-" if t.difference is None else f"{t.difference:.0e}"
            row += [us(t.peer_call), us(t.peer_batch), _times(t.ratio_call), _times(t.ratio_batch), agreed]
        rows.append(row)
    title = f"{r.robot}: nq {r.nq}, nv {r.nv}; batches of {r.batch_size} states"
    return Table(title, columns, rows, range(1, len(columns)), _summary(r))


def _summary(r: RobotTimings) -> str:
    parts = [f"medians of {r.blocks} blocks of calls ({r.batch_blocks} for batches)"]
    means = [geometric_mean(getattr(t, field) for t in r.rows) for field in ("ratio_call", "ratio_batch", "ratio_threads")]
    words = ("one call {}x the peer's speed", "a batch on one thread {}x", "{}x more with " + f"{r.threads} threads")
    parts += [word.format(f"{mean:.2f}") for word, mean in zip(words, means, strict=True) if mean is not None]
    slower = [t.algorithm for t in r.rows if t.ratio_call is not None and t.ratio_call < 1]
    parts += [f"slower than the peer for one call: {', '.join(slower)}"] if slower else []
    loops = sorted({t.algorithm for t in r.rows if (t.peer_batch_means or "").endswith("InParallel")})
    if loops:
        functions = " and ".join(loops)
        parts.append(f"the peer's batch is its parallel function on one thread for {functions}, a Python loop otherwise")
    parts += [r.note] if r.note else []
    return "geometric means and notes: " + "; ".join(parts)


def batches_table(name: str, points: tuple[BatchPoint, ...]) -> Table:
    rows = []
    for p in sorted((p for p in points if p.robot == name), key=lambda p: (p.timing.algorithm, p.states)):
        t = p.timing
        row = [t.algorithm, str(p.states), us(t.batch), us(t.batch_fresh), us(t.batch_threads), _times(t.ratio_threads)]
        rows.append([*row, us(t.peer_batch), _times(t.ratio_batch)])
    columns = ("algorithm", "states", "us a state", "fresh", "threads", "gain", "peer", "faster")
    title = f"{name}: batches on one thread and on several"
    return Table(title, columns, rows, range(1, len(columns)), _overheads(name, points))


def _overheads(name: str, points: tuple[BatchPoint, ...]) -> str:
    """What a call costs beside its states, by the line through the two shortest batches."""
    prices = {a: call_overhead(points, name, a) for a in dict.fromkeys(p.timing.algorithm for p in points)}
    shown = ", ".join(f"{a} {price:.1f}" for a, price in prices.items() if price is not None)
    return f"us of a call beside its states, by the two shortest batches: {shown}"


def scaling_table(points: tuple[ScalingPoint, ...]) -> Table:
    rows = [(str(p.bodies), str(p.nv), p.algorithm, us(p.call), us(p.batch), f"{1e3 * p.batch / p.bodies:.2f}",
        us(p.peer_call), _times(p.ratio_call)) for p in sorted(points, key=lambda p: (p.algorithm, p.bodies))]  # fmt: skip
    columns = ("bodies", "nv", "algorithm", "us a call", "us a state", "ns a body", "peer: call", "faster")
    title = "scaling: chains, batches of 256 states on one thread"
    return Table(title, columns, rows, (0, 1, 3, 4, 5, 6, 7), _exponents(points))


def _exponents(points: tuple[ScalingPoint, ...]) -> str:
    lines = []
    for algorithm in CHAIN_ALGORITHMS:
        call, batch = (exponent(points, algorithm, field) for field in ("call", "batch"))
        if call is not None and batch is not None:
            lines.append(f"{algorithm} grows as bodies^{call:.2f} a call, ^{batch:.2f} a state of a batch")
    compared = [p.bodies for p in points if p.peer_call is not None]
    if compared and max(compared) < max(p.bodies for p in points):
        lines.append(f"the peer stops at {max(compared)} bodies: its workspace grows with the cube of nv")
    return "; ".join(lines)


def steps_table(steps: tuple[StepTiming, ...]) -> Table:
    rows = []
    for s in steps:
        ratio = None if s.peer_step is None else s.peer_step / s.step
        rows.append((s.robot, s.integrator, us(s.step), us(s.peer_step), _times(ratio)))
    peer = next((s.peer for s in steps if s.peer), "peer")
    columns = ("robot", "integrator", "us a step", f"{peer}'s", "faster")
    return Table("simulation: a step of whole runs, called from Python", columns, rows, (2, 3, 4))


def solvers_table(timings: tuple[SolverTiming, ...]) -> Table:
    rows = [(t.solver, str(t.variables), str(t.rows), *map(us, (t.bare, t.call, t.overhead, t.bare_warm, t.warm)),
        str(t.iterations)) for t in timings]  # fmt: skip
    columns = ("solver", "variables", "rows", "bare", "solve_qp", "more", "bare, warm", "solve_qp, warm", "iterations")
    title = "quadratic programs: us a call, and what conversion and checks add"
    note = "bare: daqp.solve, or qpsolvers.solve_problem for the others; warm: begun with the solution"
    return Table(title, columns, rows, range(1, len(columns)), note)


def start_table(s: Start) -> Table:
    rows = [("import freeflyer (cold: without bytecode)", f"{s.import_cold:.2f}", f"{s.import_warm:.2f}")]
    rows += [(f"first call of {c.algorithm}", f"{c.cold:.2f}", f"{c.cached:.2f}") for c in s.first_calls]
    return Table("start: seconds in a fresh process", ("what", "cold (compiling)", "cached"), rows, (1, 2))


def closed_table(robot: str, c: ClosedTimings) -> Table:
    """The rows, below each the functions of the peers and their differences; errors by softness in the note."""
    compared = any(row.peers for row in c.rows)
    columns = ["loops closed", "us a call", "us a state", *(("beside", "us a call", "faster", "agrees to") if compared else ())]
    rows = []
    for row in c.rows:
        line = [row.quantity, us(row.call), us(row.batch)]
        if not row.peers:
            rows.append([*line, *(("", "-", "-", "-") if compared else ())])
        for p in row.peers:
            faster = "-" if p.call is None else f"{p.call / row.call:.1f}x"
            agrees = "-" if p.difference is None else f"{p.difference:.0e}"
            rows.append([*line, f"{p.peer}: {p.means}", us(p.call), faster, agrees])
            line = ["", "", ""]
    size = f"nu {c.nu}, {c.constraints} rows of rank {c.rank}, open by {c.residual:.1e}"
    title = f"{robot}, loops closed: {size}; batches of {c.batch_size}"
    parts = [f"medians of {c.blocks} blocks of calls"]
    parts += ["agreement at one state, relative to the largest entry"] if compared else []
    parts += c.notes
    if c.softness:
        faded = ", ".join(f"{gap:.1e} at {1.0 - x:g}" for x, gap in c.softness)
        parts += [f"the equalities of a peer are soft; its accelerations miss the rigid ones by impedance: {faded}"]
    return Table(title, columns, rows, [k for k in range(1, len(columns)) if k != 3], "; ".join(parts))
