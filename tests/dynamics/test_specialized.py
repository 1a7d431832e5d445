"""Code for one robot beside general code: the same numbers, refusals and errors, from fewer operations."""

import freeflyer as ff
import numpy as np
import pickle
import pytest
from closeness import distance, fresh, refused
from dataclasses import replace
from freeflyer.kernels import entries as E
from freeflyer.kernels.compiler import build, object_code
from freeflyer.kernels.compiler.one_robot import expressions
from freeflyer.kernels.compiler.one_robot.expressions import Graph
from freeflyer.kernels.compiler.one_robot.tracing import formulas
from linkage_samples import planar
from random_robots import BASES, KINDS, random_robot
from tangent import state
from typing import Any

ALIKE = 1e-13  # relative to the largest entry
LEADS = ((), (1,), (3,), (13,), (2, 5), (70,))  # batch axes: less than a Pack, more, several, with a rest
EXPRESSED = ("body", "mixed", "world")


def error(x: Any, y: Any) -> float:
    """The largest difference of two results, relative to the largest entry."""
    return max(map(distance, x._arrays, y._arrays)) if isinstance(x, ff.AllTerms) else distance(x, y)


def calls(model: ff.Model, frames: list[str], q: Any, v: Any, a: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Calls of every function that can be specialised, as functions of the model."""
    g, w = rng.standard_normal(3), {name: rng.standard_normal((*q.shape[:-1], 6)) for name in frames}
    expressed = EXPRESSED[int(rng.integers(3))]
    loads = {"external": w, "expressed": expressed, "gravity": g}
    of_terms = {"frames": frames, "expressed": expressed, "gravity": g}
    found = {
        f"{f.__name__}, {name}": lambda m, f=f, x=x, more=more: f(m, *x, **more)
        for f, x in ((ff.inverse_dynamics, (q, v, a)), (ff.forward_dynamics, (q, v, a)), (ff.bias_forces, (q, v)),
                     (ff.gravity_forces, (q,)))
        for name, more in (("alone", {}), ("gravity", {"gravity": g}), ("loads", loads))
    }  # fmt: skip
    for f in (ff.mass_matrix, ff.inverse_mass_matrix, ff.center_of_mass, ff.centroidal_momentum_matrix):
        found[f.__name__] = lambda m, f=f: f(m, q)
    for f in (ff.coriolis_matrix, ff.centroidal_momentum, ff.centroidal_bias):
        found[f.__name__] = lambda m, f=f: f(m, q, v)
    for name in (*frames, model.frame_names[0]):
        found[f"pose of {name}"] = lambda m, name=name: ff.frame_pose(m, q, name)
        found[f"Jacobian of {name}"] = lambda m, name=name: ff.frame_jacobian(m, q, name, expressed)
        found[f"velocity of {name}"] = lambda m, name=name: ff.frame_velocity(m, q, v, name, expressed)
        found[f"bias of {name}"] = lambda m, name=name: ff.frame_bias_acceleration(m, q, v, name, expressed)
    for name, of in (("none", ()), ("named", frames), ("another", frames[:1])):
        found[f"all terms, {name}"] = lambda m, of=of: ff.all_terms(m, q, v, **of_terms | {"frames": of})
    return found


def differences(model: ff.Model, fast: ff.Model, frames: list[str], rng: np.random.Generator) -> dict[str, float]:
    """What differs by more than rounding, for one state and batches of several sizes."""
    found: dict[str, float] = {}
    for lead in LEADS:
        for name, call in calls(model, frames, *state(model, rng, lead), rng).items():
            found[name] = max(found.get(name, 0.0), error(call(fast), call(model)))
    assert len(found) > 20
    return {name: x for name, x in found.items() if not x < ALIKE}


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 3, 4))])
def test_random_trees_agree(seed: int) -> None:
    """And a known one, whose code is on disk after the first run."""
    rng = fresh(seed) if seed else np.random.default_rng(0)
    model = random_robot(rng, 3, KINDS, BASES[seed % 4], mimics=0.3)
    frames = list(rng.choice(model.frame_names, 2, replace=False))
    fast = ff.specialize(model, frames=frames)
    assert all(note.startswith("specialised") for note in fast.specialization.notes.values())
    assert differences(model, fast, frames, fresh(seed)) == {}


def test_closed_linkages_agree() -> None:
    rng = fresh(10)
    model = ff.close_loops(planar((0.3, 0.25, 0.2), (0.28, 0.3), 0.2, base="free"))
    fast = ff.specialize(model, ("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_mass_matrix", "center_of_mass"))
    assert set(fast.specialization.notes.values()) == {"specialised"}
    frame = model.frame_names[-1]
    for lead in LEADS:
        q, v, a = state(model, rng, lead)
        q = ff.integrate(model, np.broadcast_to(model.neutral, q.shape), 0.05 * v)
        loads = {"external": {frame: rng.standard_normal(6)}, "gravity": rng.standard_normal(3)}
        for f, x in ((ff.inverse_dynamics, (q, v, a)), (ff.forward_dynamics, (q, v, a))):
            assert error(f(fast, *x), f(model, *x)) < 10 * ALIKE
            assert error(f(fast, *x, **loads), f(model, *x, **loads)) < 10 * ALIKE
        for g in (ff.mass_matrix, ff.inverse_mass_matrix, ff.center_of_mass):
            assert error(g(fast, q), g(model, q)) < 10 * ALIKE
    open_loops = q + 0.1 * rng.standard_normal(q.shape) * (np.arange(q.shape[-1]) >= 7)
    refused(ff.linkages.LinkageError, "", ff.inverse_dynamics, fast, open_loops, v, a)


def test_joints_that_follow_the_first() -> None:
    """Mass matrices then depend on its position; they do not on that of a base that is alone."""
    rng, description = fresh(11), ff.robots.chain(4).description
    first, *_, last = description.joints
    follower = replace(last, mimic=ff.Mimic(first.name, rng.uniform(0.5, 2.0), 0.2))
    q = rng.standard_normal((17, 3))
    for model, depends in ((ff.robots.chain(3), False), (ff.load(description.with_joint(follower), base="fixed"), True)):
        fast = ff.specialize(model, ["mass_matrix", "inverse_dynamics"])
        M = ff.mass_matrix(fast, q)
        assert error(M, ff.mass_matrix(model, q)) < ALIKE
        assert error(ff.inverse_dynamics(fast, q, q, q), ff.inverse_dynamics(model, q, q, q)) < ALIKE
        assert np.array_equal(M, ff.mass_matrix(fast, q + [1.0, 0.0, 0.0])) is not depends


@pytest.fixture(scope="module")
def arm() -> tuple[ff.Model, ff.Model]:
    model = ff.robots.chain(3)
    return model, ff.specialize(model, ["inverse_dynamics", "mass_matrix", "forward_dynamics"])


def test_it_is_the_same_model(arm: tuple[ff.Model, ff.Model]) -> None:
    """But for its code; a pickle holds the robot alone."""
    model, fast = arm
    for name, x in vars(model).items():
        if name not in ("handle", "_unloaded", "specialization"):
            assert getattr(fast, name) is x
    again = pickle.loads(pickle.dumps(fast))
    assert again.specialization is None
    assert np.array_equal(again.parameters, model.parameters)
    assert "specialised: inverse_dynamics, mass_matrix, forward_dynamics" in str(fast)
    assert "specialised" not in str(model)


@pytest.mark.parametrize("place", [(0, 0), (5, 1), (69, 2)])
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_refused_is_refused_alike(arm: tuple[ff.Model, ff.Model], place: tuple[int, int], wrong: float) -> None:
    """With the same words, and with results of the states before it in `out`."""
    q, v, a = fresh(30).standard_normal((3, 70, 3))
    v[place] = wrong
    out = np.full((2, 70, 3), np.nan)
    errors = [refused(ff.InputError, "", ff.inverse_dynamics, model, q, v, a, out=x) for model, x in zip(arm, out)]
    assert str(errors[0]) == str(errors[1])
    known = np.isfinite(out[0])
    assert np.array_equal(np.isfinite(out[1]), known)
    assert error(out[1][known], out[0][known]) < ALIKE


def test_quaternions_without_unit_length_are_refused_alike() -> None:
    model = ff.robots.chain(2, base="free")
    fast = ff.specialize(model, ["gravity_forces"])
    q = ff.random_configuration(model, fresh(35), 70)
    q[37, 3:7] *= 1.1
    for x in (q, q[37]):
        errors = [refused(ff.InputError, "has norm 1", ff.gravity_forces, robot, x) for robot in (model, fast)]
        assert str(errors[0]) == str(errors[1])


def test_singular_states_are_nan_alike() -> None:
    description = ff.robots.chain(2).description
    links = tuple(ff.Link(x.name) if k == len(description.links) - 1 else x for k, x in enumerate(description.links))
    model = ff.load(ff.Description("massless", links, description.joints), base=None)
    fast = ff.specialize(model, ["forward_dynamics"])
    assert "singular in every state" in fast.specialization.notes["forward_dynamics"]
    x = fresh(40).standard_normal((3, 9, 2))
    assert np.isnan(ff.forward_dynamics(fast, *x, on_failure="nan")).all()
    refused(ff.InputError, "singular", ff.forward_dynamics, fast, *x)


def test_free_numbers_are_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models that differ in free numbers share one code; one that differs elsewhere has another."""
    rng = fresh(80)
    model = random_robot(np.random.default_rng(0), 4, ("revolute", "prismatic", "universal"), "free", mimics=0.0)
    d = model.description
    link, joint = d.links[2], d.joint("joint_2")
    moved = joint.placement.copy()
    moved[:3, 3] += rng.uniform(0.01, 0.1, 3)
    heavier = ff.Inertia(2.0 * link.inertia.mass, link.inertia.com + 0.05, 3.0 * link.inertia.rotational)
    others = {"mass": replace(d, links=tuple(replace(x, inertia=heavier) if x is link else x for x in d.links)),
        "length": replace(d, joints=tuple(replace(x, placement=moved) if x is joint else x for x in d.joints))}  # fmt: skip
    functions = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "centroidal_momentum_matrix")
    ff.specialize(model, functions, free=[link.name, joint.name])
    for description in others.values():
        other = ff.build(description)
        assert not np.array_equal(other.parameters, model.parameters)
        with monkeypatch.context() as cached:
            cached.setattr(build, "make", None)  # nothing more can be compiled
            fast = ff.specialize(other, functions, free=[link.name, joint.name])
        q, v, a = state(model, rng, (11,))
        for f, x in ((ff.inverse_dynamics, (q, v, a)), (ff.forward_dynamics, (q, v, a)), (ff.mass_matrix, (q,)),
                     (ff.centroidal_momentum_matrix, (q,))):  # fmt: skip
            assert error(f(fast, *x), f(other, *x)) < ALIKE
            one = [y[0] for y in x]
            assert error(f(fast, *one), f(other, *one)) < ALIKE
            assert error(f(fast, *x), f(model, *x)) > 1e-6
    monkeypatch.setattr(build, "make", None)
    refused(TypeError, "", ff.specialize, other, functions, free=[link.name])


def test_bad_requests() -> None:
    model = ff.robots.chain(2)
    refused(ff.UnknownNameError, "'inverse_dynamics'", ff.specialize, model, ["inverse_dynamic"])
    refused(ff.UnknownNameError, "tip", ff.specialize, model, frames=["tipp"])
    refused(ff.UnknownNameError, "link or joint", ff.specialize, model, free=["link"])
    refused(ff.InputError, "Model", ff.specialize, model.description)
    refused(ff.InputError, "functions must be a list", ff.specialize, model, "mass_matrix")


def test_frames_that_are_not_named_stay_general() -> None:
    fast = ff.specialize(ff.robots.chain(2), ["frame_pose", "mass_matrix"])
    assert fast.specialization.notes == {"frame_pose": "general, as no frames are named (frames=)", "mass_matrix": "specialised"}


def test_code_that_would_be_long_stays_general(monkeypatch: pytest.MonkeyPatch) -> None:
    from freeflyer.kernels.compiler.one_robot import entries, tracing

    model, q = ff.robots.chain(4), fresh(50).standard_normal((9, 4))
    monkeypatch.setattr(entries, "MOST_BY_ROWS", 10)
    fast = ff.specialize(model, ["mass_matrix"])
    assert fast.specialization.notes["mass_matrix"].startswith("specialised for batches; one state is general, as")
    assert error(ff.mass_matrix(fast, q[0]), ff.mass_matrix(model, q[0])) == 0.0
    monkeypatch.setattr(tracing, "MOST", 10)
    fast = ff.specialize(model, ["gravity_forces"])
    assert "of 10 at most" in fast.specialization.notes["gravity_forces"]
    assert error(ff.gravity_forces(fast, q), ff.gravity_forces(model, q)) == 0.0


def test_verdicts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stays general is not traced again, and limits belong to the verdict."""
    from freeflyer.kernels.compiler.one_robot import entries, tracing

    model = ff.robots.chain(4, length=fresh(90).uniform(0.1, 0.2))
    monkeypatch.setattr(entries, "MOST_BY_ROWS", 10)
    first = ff.specialize(model, ["mass_matrix"])
    with monkeypatch.context() as m:
        m.setattr(tracing, "formulas", None)
        assert ff.specialize(model, ["mass_matrix"]).specialization.notes == first.specialization.notes
    monkeypatch.undo()
    assert ff.specialize(model, ["mass_matrix"]).specialization.notes == {"mass_matrix": "specialised"}


def test_earlier_code_is_kept() -> None:
    """A second call adds to the first one's code, also while a thread still compiles, and shows its progress."""
    model, shown = ff.robots.chain(3), []
    one = ff.specialize(model, ["gravity_forces"], wait=False)
    both = ff.specialize(one, ["mass_matrix", "center_of_mass"], progress=lambda share, what: shown.append((share, what)))
    assert both.specialization.notes == dict.fromkeys(("gravity_forces", "mass_matrix", "center_of_mass"), "specialised")
    assert shown[0] == (0.0, f"{model.name}: compiling mass_matrix")
    assert all(0.0 <= share < 1.0 for share, _ in shown)
    again = ff.specialize(both, ["mass_matrix"])
    assert np.array_equal(again.code, both.code)
    assert np.count_nonzero(again.code) == 8
    assert "mass_matrix" not in one.specialization.notes


def test_the_fastest_copy_of_code_stays() -> None:
    times: dict[int, float] = {}

    def seconds(address: int) -> float:
        return times.setdefault(address, abs(len(times) - 1.0))

    kept = object_code.load(*build.objects(E.GRAVITY, 1), seconds)
    assert len(times) == object_code.COPIES
    assert times[kept] == 0.0


def test_a_decision_by_numbers_is_refused() -> None:
    x = Graph().made("input", 0, 0)
    for decide in (bool, float, lambda x: x < 1.0, lambda x: x >= 0.0):
        refused(expressions.Refused, "branches on numbers", decide, x)


def test_operations_of_a_robot_are_few() -> None:
    """Inverse dynamics of a chain of six joints: a known number, which an edit should not raise unseen."""
    model = ff.robots.chain(6)
    found = formulas(E.RNEA, tuple(model.topology.tolist()), tuple(model.parameters.tolist()))
    assert len(found.expressions) < 450


def test_frames_and_constraints_of_the_model_serve_its_specialised_one():
    """And the other way round; those of an edited model do not."""
    model, rng = ff.robots.quadruped(), fresh()
    fast, edited = ff.specialize(model, ["inverse_dynamics"]), ff.with_gravity(model, (0.0, 0.0, -1.6))
    q, tau = ff.robots.standing_posture(model), rng.standard_normal(model.nv)
    w, rest = rng.standard_normal((1, 6)), np.zeros(model.nv)
    for one, other in ((model, fast), (fast, model)):
        frames = ff.frame_set(one, "front_left_foot")
        both = [ff.inverse_dynamics(m, q, tau, tau, external=(frames, w)) for m in (one, other)]
        assert error(*both) < ALIKE
        held = ff.ConstraintSet(one, contacts=ff.contacts.feet_by_name(one))
        a = [ff.constrained_dynamics(m, q, rest, tau, constraints=held).a for m in (one, other)]
        assert np.abs(a[0] - a[1]).max() < 1e-10
    refused(ff.InputError, "another model", ff.constrained_dynamics, edited, q, rest, tau, constraints=held)
