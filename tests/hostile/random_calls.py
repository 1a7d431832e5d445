"""Random hostile calls: a call that works, one or two of whose arguments are replaced by values that nobody should give.

    python tests/hostile/random_calls.py 5000      # so many, with a new seed, which is printed; FREEFLYER_TEST_SEED repeats one

A call must end in a FreeflyerError that names an argument which was replaced, or in a result. NumPy's warnings count as errors.
"""

import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from bad_values import Thing
from calls_by_hand import OTHER_WORDS, Call, calls
from linkage_samples import four_bar
from seeds import SEED, fresh

import freeflyer as ff
from freeflyer import control, decoupling, estimation, linkages, optimization, sim
from freeflyer_papers import hopping

ANY = ("named", "beyond floating-point numbers")  # words of sentences on names, and on runs and results whose numbers overflow
LONGEST, SECONDS = 1500, 10.0  # characters of a sentence; of a call
WORDS = {  # that name an argument as well: of a whole whose part is at fault, or as sentences call it
    **OTHER_WORDS, "levels": ("level ",), "encoders": ("encoder",), "contacts": ("contact", "frame", "set is of"),
    "feet": ("contact", "foot"), "frames": ("frame",), "locks": ("joint",), "hold": ("joint",),
    "model": ("Model", "robot", "loops"),
    "H": ("g has",), "A": ("row",), "lower": ("row", "limit"), "upper": ("row", "limit"), "x_lower": ("variable",),
    "x_upper": ("variable",), "solver": ("solver",), "posture": ("q",),
    "joint": ("joint",), "scenario": ("scenario", "stance"), "digest": ("another robot",), "height": ("ZMP",), "q": ("trajectory",),
    "rate": ("step",), **dict.fromkeys(("dt", "state_cost", "input_cost", "bandwidth"), ("Riccati",)),
    "settings": ("run's settings", "run is not", "dt"),
    "motors": ("motor", "joint"), "joints": ("joint",), "limit": ("limit", "numbers"), "tasks": ("Task",),
}  # fmt: skip


def hostile_calls() -> list[Call]:
    """Calls that work; their `kinds` are not used."""
    own = [call for call in calls() if call.function is not estimation.contact_wrenches]  # which refuses its own posture
    return [*own, *(Call(f, good, {}) for f, good in (*_control(), *_solvers(), *_hopping(), *_closed(), *_records()))]


def _control() -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    model = ff.robots.humanoid(20)
    q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
    feet = [ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")]
    tasks = [control.CenterOfMassTask(ff.center_of_mass(model, q)), control.PostureTask(q, level=2)]
    problem = control.WholeBodyProblem(model, tasks, feet, [control.TorqueLimits()])

    def solved(**given: Any) -> Any:
        return control.WholeBodyProblem(**given).solve(q, v)

    def solved_task(**given: Any) -> Any:
        return control.WholeBodyProblem(model, [control.CenterOfMassTask(**given)], feet).solve(q, v)

    def solved_posture(**given: Any) -> Any:
        return control.WholeBodyProblem(model, [control.PostureTask(**given)], feet).solve(q, v, weighted=True)

    def limited(kind: Callable[..., Any]) -> Callable[..., Any]:
        return lambda **given: control.WholeBodyProblem(model, tasks, feet, [kind(**given)]).solve(q, v)

    yield solved, {"model": model, "tasks": tasks, "contacts": feet, "limits": [control.TorqueLimits()], "friction": 0.6,
                   "bilateral": ["left_sole"], "acceleration_weight": 1.0, "force_weight": 1e-5,
                   "contact_damping": 1.0, "compressed": None}  # fmt: skip
    yield problem.solve, {"q": q, "v": v, "formulation": "full", "solver": "daqp", "weighted": False, "warm": None,
                          "external": {"left_sole": np.ones(6)}, "expressed": "mixed"}  # fmt: skip
    gains = {"level": 1, "weight": 1.0, "stiffness": 50.0, "damping": 10.0}
    yield solved_task, {"target": np.ones(3), "velocity": np.zeros(3), "acceleration": np.zeros(3), **gains}
    yield solved_posture, {"target": q, **gains}
    yield limited(control.TorqueLimits), {"upper": 50.0, "lower": -50.0, "scale": 1.0}
    yield limited(control.AccelerationLimits), {"bound": 100.0}
    yield limited(control.NormalForceLimits), {"contact": "left_sole", "upper": 200.0, "lower": 0.0}
    yield limited(control.JointLimits), {"dt": 2e-3, "acceleration": 200.0, "margin": 0.0, "velocities": True}
    yield problem.with_tasks, {"tasks": tasks}
    yield control.inverse_kinematics, {"model": model, "tasks": tasks, "q": q, "iterations": 3, "tolerance": 1e-6, "limits": True}
    yield control.random_pushes, {"robot": control.Standing(model, q, tuple(feet)), "count": 2, "share": 0.5, "seed": 0}
    arm = ff.robots.chain(2)
    yield control.energy_costs, {"model": arm, "q": np.zeros(2), "inputs": control.joint_inputs(arm), "bandwidth": 2.0}
    yield partial(control.run_scenario, duration=1e-3), {
        "scenario": "squat", "robot": model, "formulation": "full", "solver": "daqp", "weighted": False, "seed": 0, "dt": 1e-3,
        "q": q, "feet": None, "sensing": None, "depth": 0.1,
    }  # fmt: skip
    moved = {"start": np.zeros(3), "end": np.ones(3), "duration": 1.0, "begin": 0.0}
    yield lambda **given: control.MinimumJerkReference(**given)(0.5), moved
    yield lambda **given: control.SinusoidReference(**given)(0.5), {
        "center": np.zeros(3), "amplitude": np.ones(3), "frequency": 1.0, "ramp": 1.0, "begin": 0.0, "end": 9.0, "phase": 0.0,
    }  # fmt: skip


def _solvers() -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    H, g, A = np.eye(2), np.ones(2), np.array([[1.0, 2.0]])
    program = {"H": H, "g": g, "A": A, "lower": np.zeros(1), "upper": np.ones(1)}
    yield optimization.solve_qp, {**program, "x_lower": -g, "x_upper": g, "solver": "daqp", "warm": None, "tolerance": 1e-8,
                                  "iterations": 100, "seconds": 1.0, "feasible": np.zeros(2)}  # fmt: skip
    levels = [(A, np.ones(1), np.ones(1)), (H, g, g, g)]
    yield optimization.solve_hierarchy, {"levels": levels, "solver": "daqp", "warm": None, "tolerance": 1e-8}


def _hopping() -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    model = ff.robots.revolute_hopper()
    start = {"angle": 0.1, "height": 0.3, "speed": 0.0}
    common = {"experiment": "revolute-V", "duration": 0.02, "model": model, "executor": None}
    yield hopping.hop_start, {"model": model, **start, "joint": [1.0]}
    yield hopping.hop_ends, {**common, "q": np.array(model.keyframes["start"]), "v": np.zeros(4), "energy_gain": 20.0}
    yield hopping.hop_basins, {**common, **{name: [x] for name, x in start.items()}}


def _closed() -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    arm, linkage = ff.robots.space_manipulator(), four_bar()
    q, v = arm.neutral, np.ones(arm.nv)
    yield decoupling.constants_of_motion, {"model": arm, "q": q, "v": v, "frames": ["world", "satellite"]}
    contacts = [ff.contacts.surface("satellite")]
    yield ff.ConstraintSet, {"model": arm, "contacts": contacts, "locks": ["arm_joint_1"], "rolling": (), "loops": True,
                             "posture": q}  # fmt: skip
    posture = np.array(linkages.partition(linkage).q)
    rest = np.zeros(linkage.nv)
    yield estimation.contact_model, {"model": linkage, "q": posture, "feet": None, "v": rest, "a": rest}
    yield linkages.assemble, {"model": linkage, "q": posture, "hold": None, "limits": True, "strict": True, "tolerance": 1e-9,
                                "redundant": 1e-6, "attempts": 2, "branches": None}  # fmt: skip
    yield estimation.sensors, {"model": linkage, "also": (), "rigid": ()}


def _records() -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    model = ff.robots.chain(2)
    q = np.zeros(2)
    run = sim.simulate(model, q, q, dt=0.01, duration=0.02)

    def replayed(**given: Any) -> Any:
        return sim.replay(model, sim.Run(**given))

    yield replayed, dict(vars(run))
    yield sim.Sensing, {"position_noise": 0.1, "velocity_noise": np.ones(2), "delay": 0.01, "seed": 1}
    yield sim.Event, {"name": "x", "value": lambda state: 1.0, "direction": 0, "terminal": False, "action": None}


def hostile_value(rng: np.random.Generator, good: Any) -> Any:
    """A value that hardly anything takes, or one that works, spoilt."""
    pool: list[Any] = [
        None, True, False, 0, -1, 5, 100.5, 1e300, 1e308, -1e308, 1e40, 1e-40, 5e-324, np.nan, np.inf, -np.inf, 10**400, 1j,
        "", "x", "w" * 1000, np.str_("x"), "\0", b"x", Thing(), float, len, {}, {5: 5}, {"x": None}, [], [5], [[5]], [None],
        ["x"], (), set(), np.zeros(3), np.full(3, 1e308), np.full(3, np.nan), np.zeros((0, 3)), np.zeros((3, 0)),
        np.array([Thing()]), np.float64(1e200), np.ma.masked_all(3), [1.0, [2.0]], np.array("x"), Executor, range(3), iter([1.0]),
    ]  # fmt: skip
    if isinstance(good, np.ndarray) and good.size:
        spoilt = good.copy()
        spoilt.flat[rng.integers(good.size)] = rng.choice([np.nan, np.inf, 1e308, 1e200])
        own = [good * 1e300 + 1e300, good[..., :-1], spoilt, spoilt, good[None], good.astype(complex), good * 1e-320]
        own.append(good.astype(str))
    elif isinstance(good, str):
        own = [good + "x", good.upper(), np.str_(good + "s"), [good], good.encode()]
    elif isinstance(good, list | tuple) and good:
        own = [[*good, *good], [*good, None], [*good, 5], good[0], (x for x in good), {"x": good}]
    else:
        own = [-good, good * 1e200, [good], str(good)] if isinstance(good, float) and good else []
    pool += 3 * own
    if callable(good) or (isinstance(good, str) and good == "squat"):  # errors of one's own functions are raised as they are
        pool = [x for x in pool if not callable(x)]
    return pool[rng.integers(len(pool))]


@contextmanager
def time_limit() -> Iterator[None]:
    """TimeoutError after SECONDS, where the system has such timers."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"takes more than {SECONDS} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def failure(call: Call, given: dict[str, Any], replaced: list[str]) -> str | None:
    """What is wrong with how a call ends; "" for a result, None for a proper error."""
    try:
        with time_limit(), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            call.function(**given)
    except ff.FreeflyerError as error:
        text = str(error)
        words = [w for name in replaced for w in (name, *WORDS.get(name, ()))]
        if not 15 < len(text) < LONGEST or "np.str_(" in text:
            return f"an odd sentence: {text[:200]}"
        proven = isinstance(error, optimization.SolverError)  # of a program, whatever its numbers
        return None if proven or any(w in text for w in (*words, *ANY)) else f"names none of them: {text[:300]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return ""


def attack(count: int, rng: np.random.Generator, watched: bool = False) -> tuple[Counter[str], list[str]]:
    """How many calls ended how, and sentences on those that ended badly."""
    known, ends, leaks = hostile_calls(), Counter[str](), []
    for _ in range(count):
        call = known[rng.integers(len(known))]
        replaced = list(rng.choice(list(call.good), size=min(len(call.good), 1 + int(rng.random() < 0.3)), replace=False))
        given = {**call.good, **{str(name): hostile_value(rng, call.good[name]) for name in replaced}}
        found = failure(call, given, replaced)
        ends["refused" if found is None else "leaks" if found else "results"] += 1
        if found:
            name = getattr(call.function, "__qualname__", str(call.function))
            values = ", ".join(f"{x} = {ff.errors.format_value(given[x])}" for x in replaced)
            leaks.append(f"{name}({values}): {found}")
            if watched:
                print(leaks[-1], flush=True)
    return ends, leaks


if __name__ == "__main__":
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    print(f"{total} calls, seed {SEED}: {dict(attack(total, fresh('hostile calls'), watched=True)[0])}")
