"""Table 1 as executed checks: singularity-free (SF), moving base (MB), exact derivatives (ED), recursive formulation (RF); and cost
against the number of bodies: the paper's tables in NumPy, the compiled derivatives, finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import freeflyer as ff
from freeflyer.analysis.linearization import body_rates
from freeflyer.analysis.timing.results import power, threads, time_interleaved
from freeflyer_papers.counting import CountingScalar, Operations, count
from freeflyer.progress import Progress
from freeflyer_papers.linearization import robot as R
from freeflyer_papers.printed import geometric

ROUNDING = 1e-12
PITCHES = np.radians(np.arange(-180.0, 181.0, 15.0))  # +-90 degrees among them
ROLL, YAW = 0.3, -0.8
MOTIONS = 8  # random motions of the base


def pitch_sweep(model: ff.Model, state: R.State) -> R.Sweep:
    """The error at base attitudes of any pitch, and how roll, pitch and yaw fare there."""
    errors = [_inverse_error(model, _pitch(state.q, pitch), state.v, state.a) for pitch in PITCHES]
    conditions = [np.linalg.cond(body_rates(np.array([ROLL, pitch, 0.0]))) for pitch in PITCHES]
    return R.Sweep(PITCHES, np.array(errors), np.array(conditions))


def singularity_free(sweep: R.Sweep) -> tuple[R.Check, ...]:
    """No attitude is special; where roll, pitch and yaw are singular neither."""
    upright = np.isclose(np.abs(sweep.pitch), np.pi / 2)
    return (R.Check("SF", f"error at {len(sweep.pitch)} pitches from -180 to 180 deg", float(sweep.error.max()), ROUNDING),
        R.Check("SF", "error at exactly +-90 deg", float(sweep.error[upright].max()), ROUNDING),
        R.Check("SF", "roll, pitch, yaw: condition of their rates at +-90 deg", float(sweep.condition[upright].max()), None))


def moving_base(model: ff.Model, state: R.State, prediction: R.Prediction) -> tuple[R.Check, ...]:
    """Base rows and columns under random motions of the base, both base velocities, and the prediction of a whole motion."""
    rng, tree = np.random.default_rng(4), geometric.tree_of(model)
    errors, relations = [], []
    for _ in range(MOTIONS):
        v, a = state.v.copy(), state.a.copy()
        v[:6], a[:6] = 3.0 * rng.standard_normal((2, 6))
        ours = geometric.inverse_dynamics_derivatives(model, state.q, v, a)
        for mine, exact in zip((ours.dq, ours.dv, ours.da), R.by_complex_steps("rnea", model, state.q, v, a), strict=True):
            errors += [R.distance(mine[:6], exact[:6]), R.distance(mine[:, :6], exact[:, :6])]
        e = geometric.motion_pass(tree, state.q, v, a)
        inertial, body = geometric.derivative_by_pose(e, "inertial"), geometric.derivative_by_pose(e, "body")
        by_velocity = geometric.derivative_by_base_velocity(e)
        relations.append(R.distance(geometric.pose_derivative_with_inertial_twist(body, by_velocity, e.v[0]), inertial))
    return (R.Check("MB", f"error of the base's rows and columns, {MOTIONS} base motions", max(errors), ROUNDING),
        R.Check("MB", "Table 5 at fixed inertial twist, from fixed body twist and Table 7", max(relations), ROUNDING),
        R.Check("MB", "(A, B) along a motion: |order of the remainder - 2|", abs(prediction.order - 2.0), 0.1))  # fmt: skip


def exact_derivatives(model: ff.Model, state: R.State, differences: tuple[R.Differences, ...]) -> tuple[R.Check, ...]:
    """Against complex steps, beside the best that finite differences reach; the last value is our error."""
    ours = geometric.forward_dynamics_derivatives(model, state.q, state.v, state.tau)
    exact = R.by_complex_steps("aba", model, state.q, state.v, state.tau)
    forward = max(R.distance(x, y) for x, y in zip((ours.dq, ours.dv, ours.dtau), exact, strict=True))
    compare = tuple(R.Check("ED", f"{d.kind} differences: error at their best step, {d.delta[d.best]:.0e}",
        float(d.maximal[d.best]), None) for d in differences)  # fmt: skip
    return (R.Check("ED", "inverse dynamics (Tables 5-8): error against complex steps",
        _inverse_error(model, state.q, state.v, state.a), ROUNDING),
        R.Check("ED", "forward dynamics (with Table 9): error against complex steps", forward, ROUNDING), *compare)  # fmt: skip


def _inverse_error(model: ff.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
    ours = geometric.inverse_dynamics_derivatives(model, q, v, a)
    exact = R.by_complex_steps("rnea", model, q, v, a)
    return max(R.distance(x, y) for x, y in zip((ours.dq, ours.dv, ours.da), exact, strict=True))


STEPS = np.logspace(-1.0, -12.0, 67)
MARGIN = 1.0  # decades kept away from the minimum when slopes are fitted


def finite_differences(model: ff.Model, state: R.State) -> tuple[R.Differences, ...]:
    """One-sided and central differences of a = forward_dynamics(q, v, tau) beside the geometric linearisation paper's exact
    derivatives."""
    d = geometric.forward_dynamics_derivatives(model, state.q, state.v, state.tau)
    exact = np.hstack([d.dq, d.dv, d.dtau])
    steps = STEPS[:, None, None]
    point = state.q, state.v, state.tau
    here = ff.forward_dynamics(model, *point)
    ahead, behind = (neighbours(ff.forward_dynamics, model, point, h) for h in (STEPS, -STEPS))
    one_sided = np.swapaxes((ahead - here) / steps, -1, -2)
    central = np.swapaxes((ahead - behind) / (2.0 * steps), -1, -2)
    n = 3 * model.nv
    return _compare("one-sided", one_sided, exact, n + 1, 1), _compare("central", central, exact, 2 * n, 2)


def neighbours(f: Callable[..., np.ndarray], model: ff.Model, point: Sequence[np.ndarray], steps: ArrayLike) -> np.ndarray:
    """f (..., 3 nv, nv) beside a point (q, v, x): each of the three is moved in turn in every direction, by steps (...)."""
    nv, (q, v, x) = model.nv, point
    moves = np.asarray(steps)[..., None, None] * np.eye(nv)  # (..., direction, nv)
    Q, V, X = (np.tile(y, (*moves.shape[:-2], 3 * nv, 1)) for y in point)
    Q[..., :nv, :], V[..., nv : 2 * nv, :], X[..., 2 * nv :, :] = ff.integrate(model, q, moves), v + moves, x + moves
    return f(model, Q, V, X)


def _compare(kind: str, approximate: np.ndarray, exact: np.ndarray, evaluations: int, order: int) -> R.Differences:
    errors = np.abs(approximate - exact) / np.abs(exact).max()
    maximal, average = errors.max(axis=(1, 2)), errors.mean(axis=(1, 2))
    decades = np.log10(STEPS)
    best = decades[np.argmin(maximal)]
    falling = (decades > best + MARGIN) & (decades < -1.0 / order)  # coarsest steps: higher orders still show
    rising = decades < best - MARGIN
    fall, rise = (float(np.polyfit(decades[part], np.log10(average[part]), 1)[0]) if part.sum() > 1 else float("nan")
        for part in (falling, rising))  # fmt: skip
    return R.Differences(kind, STEPS, maximal, average, evaluations, fall, rise)


STEP = 1e-5  # of central differences: about where they are best
Derivatives = Callable[[ff.Model, np.ndarray, np.ndarray, np.ndarray], Iterable[np.ndarray]]  # by q, v and more


def approaches(model: ff.Model, state: R.State, counts: R.Counts) -> tuple[R.Approach, ...]:
    """The paper's algorithm, the library's, and two ways by finite differences; `counts` are the largest that were made."""
    n = counts.bodies
    robot = ff.robots.chain(n, base="free")
    states = 4 * robot.nv  # of central differences by q and v
    differences = states * count("rnea", robot).total
    made: tuple[tuple[str, Derivatives, int], ...] = (
        ("geometric linearisation paper: Tables 4 to 8", geometric.inverse_dynamics_derivatives,
         counts.eidamb + counts.derivatives),
        ("this library, compiled", ff.inverse_dynamics_derivatives, count("rnea_gradient", robot).total),
        ("geometric finite differences", geometric_differences, differences),
        ("finite differences of roll, pitch, yaw", angle_differences, differences))
    attitudes = [_pitch(state.q, pitch) for pitch in PITCHES]
    exact = [R.by_complex_steps("rnea", model, q, state.v, state.a)[:2] for q in attitudes]
    found = []
    for name, derivatives, operations in made:
        errors, base = [], []
        for q, truth in zip(attitudes, exact, strict=True):
            pairs = list(zip(derivatives(model, q, state.v, state.a), truth))
            errors.append(max(R.distance(mine, theirs) for mine, theirs in pairs))
            base.append(max(R.distance(mine[:6], theirs[:6]) for mine, theirs in pairs))
        found.append(R.Approach(name, worst=max(errors), typical=float(np.median(errors)), base=float(np.median(base)),
            operations=operations / counts.entries))  # fmt: skip
    return tuple(found)


def geometric_differences(model: ff.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
    """Central differences along q (+) delta, v and a."""
    ahead, behind = (neighbours(ff.inverse_dynamics, model, (q, v, a), h) for h in (STEP, -STEP))
    return np.split((ahead - behind).T / (2.0 * STEP), 3, axis=1)


def angle_differences(model: ff.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
    """The same by q and v, the base's attitude given by roll, pitch and yaw: derivatives by them over the angles' body rates."""
    by_q, by_v, _ = geometric_differences(model, q, v, a)
    angles = ff.spatial.quaternion.to_rpy(q[3:7])
    ahead, behind = q + np.zeros((3, 1)), q + np.zeros((3, 1))
    ahead[:, 3:7] = ff.spatial.quaternion.from_rpy(angles + STEP * np.eye(3))
    behind[:, 3:7] = ff.spatial.quaternion.from_rpy(angles - STEP * np.eye(3))
    by_angles = (ff.inverse_dynamics(model, ahead, v, a) - ff.inverse_dynamics(model, behind, v, a)).T / (2.0 * STEP)
    try:
        by_q[:, 3:6] = np.linalg.solve(body_rates(angles).T, by_angles.T).T
    except np.linalg.LinAlgError:  # a right angle of pitch, to the last digit
        by_q[:, 3:6] = np.inf
    return [by_q, by_v]


def _pitch(q: np.ndarray, pitch: float) -> np.ndarray:
    out = q.copy()
    out[3:7] = ff.spatial.quaternion.from_rpy([ROLL, pitch, YAW])
    return out


SIZES = (5, 10, 20, 50, 100, 200, 300)
LARGEST_TABLES = 200  # bodies: beyond, NumPy would take the reader's time and show nothing new
ONE_SIDED_STEP = 1e-7
BLOCKS, BLOCK_SECONDS = 11, 0.01


def costs(progress: Progress, sizes: tuple[int, ...]) -> tuple[R.Cost, ...]:
    """Medians of time_interleaved blocks of calls, one state each, on chains with a floating base; on one thread."""
    found = []
    with threads(1):
        for n in sizes:
            progress(0.0, f"cost of all derivatives, {n} bodies")
            model, rng = ff.robots.chain(n, base="free"), np.random.default_rng(n)
            q = ff.random_configuration(model, rng)
            v, a = rng.standard_normal((2, model.nv))
            ways = (ff.inverse_dynamics_derivatives, differences, geometric.inverse_dynamics_derivatives)
            calls = [partial(way, model, q, v, a) for way in ways[: 3 if n <= LARGEST_TABLES else 2]]
            compiled, by_differences, *tables = time_interleaved(calls, BLOCKS, BLOCK_SECONDS)
            found.append(R.Cost(n, model.nv, tables[0] if tables else None, compiled, by_differences))
    return tuple(found)


def exponent(points: tuple[R.Cost, ...], field: str, smallest: int = 20) -> float | None:
    """The power of the number of bodies by which a time grows, from `smallest` bodies on."""
    return power([(c.bodies, getattr(c, field)) for c in points if c.bodies >= smallest])


def differences(model: ff.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
    """d tau / d q, v, a by one-sided geometric differences of the compiled inverse dynamics: one batch of 3 nv states."""
    ahead = neighbours(ff.inverse_dynamics, model, (q, v, a), ONE_SIDED_STEP)
    return np.split((ahead - ff.inverse_dynamics(model, q, v, a)).T / ONE_SIDED_STEP, 3, axis=1)


COUNTED_SIZES = (8, 16, 24, 32)  # equally spaced, so that differences show the degree of a polynomial


def recursive(counts: tuple[R.Counts, ...]) -> tuple[R.Check, ...]:
    """To the last operation, Table 4 is linear in the number of bodies, and Tables 5 to 8 are quadratic, as their entries are.

    So every further entry costs the same. A chain is the worst case: its depth is its number of bodies. As printed, Table 4 also
    fills a table of wrenches, one for each pair of a body and one on its way to the base, which is quadratic on a chain; its
    results do not need it, and Table 6 as printed does."""
    table_4 = np.diff([c.eidamb for c in counts], 2)
    tables_5_to_8 = np.diff([c.derivatives for c in counts], 3)
    as_printed = np.diff([c.eidamb_as_printed for c in counts], 2)
    printed = np.diff([c.by_shape_through_wrenches for c in counts], 3)
    step = counts[1].bodies - counts[0].bodies
    return (R.Check("RF", "Table 4 without its table of wrenches F: second difference of its operations", _largest(table_4),
        0.0), R.Check("RF", "Table 4 as printed: operations times bodies^2, on a chain", _largest(as_printed) / (2.0 * step**2),
        None), R.Check("RF", "Tables 5-8: third difference of theirs", _largest(tables_5_to_8), 0.0),
        R.Check("RF", "Table 6 with lines 32-48 as printed: operations times bodies^3", _largest(printed) / (6.0 * step**3),
        None))  # fmt: skip


def _largest(x: np.ndarray) -> float:
    return float(np.abs(x).max())


def count_operations(n: int) -> R.Counts:
    """Multiplications and additions of Tables 4 to 8 on a chain of n bodies with a floating base."""
    model = ff.robots.chain(n, base="free")
    tree, joints = geometric.tree_of(model), n
    operations = Operations()
    x = CountingScalar(operations)

    def scalars(*shape: int) -> np.ndarray:
        return np.full(shape, x, object)

    def spent(f: Callable[[], Any]) -> tuple[int, Any]:
        before = operations.total
        made = f()
        return operations.total - before, made

    inputs = (scalars(model.nq), scalars(joints), scalars(joints), scalars(4, 4), scalars(6), scalars(6))
    eidamb, _ = spent(lambda: geometric.eidamb(tree, *inputs, wrenches=False))
    printed, e = spent(lambda: geometric.eidamb(tree, *inputs))
    return R.Counts(bodies=n, entries=(6 + n) * (6 + n + 6 + n), eidamb=eidamb, eidamb_as_printed=printed,
        by_pose=spent(lambda: geometric.derivative_by_pose(e))[0],
        by_shape=spent(lambda: geometric.derivative_by_shape(e, through_wrenches=False))[0],
        by_shape_through_wrenches=spent(lambda: geometric.derivative_by_shape(e))[0],
        by_base_velocity=spent(lambda: geometric.derivative_by_base_velocity(e))[0],
        by_joint_velocity=spent(lambda: geometric.derivative_by_joint_velocity(e))[0])  # fmt: skip
