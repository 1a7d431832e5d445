"""Every quantity of one robot by freeflyer, under one set of names, and how far two such sets are apart."""

import freeflyer as ff
import numpy as np
from closeness import distance
from collections.abc import Iterable, Mapping

EXPRESSED = ("body", "mixed", "world")
PER_LINK = ("pose", "velocity", "jacobian", "Jdot v")
Result = dict[str, np.ndarray]


def answers(model: ff.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray, links: Iterable[str],
            wrenches: Mapping[str, np.ndarray], solve: bool = True) -> Result:  # fmt: skip
    """By the public functions, with the leading axes of q; per-link quantities have one axis more."""
    out = {"mass matrix": ff.mass_matrix(model, q), "gravity": ff.gravity_forces(model, q),
           "bias": ff.bias_forces(model, q, v),
           "inverse dynamics": ff.inverse_dynamics(model, q, v, a),
           "inverse dynamics, wrenches": ff.inverse_dynamics(model, q, v, a, external=wrenches),
           "com": ff.center_of_mass(model, q), "com jacobian": ff.center_of_mass_jacobian(model, q),
           "momentum matrix": ff.centroidal_momentum_matrix(model, q), "momentum": ff.centroidal_momentum(model, q, v),
           "momentum bias": ff.centroidal_bias(model, q, v), "kinetic energy": ff.kinetic_energy(model, q, v)[..., None],
           "potential energy": ff.potential_energy(model, q)[..., None]}  # fmt: skip
    C, H = ff.coriolis_matrix(model, q, v), ff.coriolis_matrix(model, q, v, "hamel")
    out |= {"C v": times(C, v), "C v, hamel": times(H, v), "C + C^T": C + np.swapaxes(C, -1, -2)}
    D, W = ff.inverse_dynamics_derivatives(model, q, v, a), ff.inverse_dynamics_derivatives(model, q, v, a, external=wrenches)
    out |= {"inverse dynamics by q": D.dq, "inverse dynamics by v": D.dv, "inverse dynamics by a": D.da}
    out["inverse dynamics by q, wrenches"] = W.dq
    if solve:
        D = ff.forward_dynamics_derivatives(model, q, v, tau)
        W = ff.forward_dynamics_derivatives(model, q, v, tau, external=wrenches)
        out |= {"forward dynamics by q": D.dq, "forward dynamics by v": D.dv, "forward dynamics by tau": D.dtau}
        out["forward dynamics by q, wrenches"] = W.dq
        out["inverse mass matrix"] = ff.inverse_mass_matrix(model, q)
        out["forward dynamics"] = ff.forward_dynamics(model, q, v, tau)
        out["forward dynamics, wrenches"] = ff.forward_dynamics(model, q, v, tau, external=wrenches)
    axis, links = np.ndim(q) - 1, list(links)
    out["pose"] = np.stack([ff.frame_pose(model, q, link) for link in links], axis)
    for e in EXPRESSED:
        out[f"velocity, {e}"] = np.stack([ff.frame_velocity(model, q, v, link, e) for link in links], axis)
        out[f"jacobian, {e}"] = np.stack([ff.frame_jacobian(model, q, link, e) for link in links], axis)
        out[f"Jdot v, {e}"] = np.stack([ff.frame_bias_acceleration(model, q, v, link, e) for link in links], axis)
    return out


def answers_at_once(model: ff.Model, q: np.ndarray, v: np.ndarray, links: Iterable[str]) -> Result:
    """The part that one `ff.all_terms` answers."""
    frames, out = ff.frame_set(model, *links), {}
    for e in EXPRESSED:
        terms = ff.all_terms(model, q, v, frames=frames, expressed=e)
        out |= {f"velocity, {e}": terms.velocities, f"jacobian, {e}": terms.jacobians, f"Jdot v, {e}": terms.bias_accelerations}
    return out | {"com": terms.center_of_mass, "com jacobian": terms.center_of_mass_jacobian,
                  "momentum": terms.centroidal_momentum, "momentum matrix": terms.centroidal_momentum_matrix,
                  "momentum bias": terms.centroidal_bias, "pose": terms.poses, "mass matrix": terms.mass_matrix,
                  "bias": terms.bias_forces, "gravity": terms.gravity_forces}  # fmt: skip


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x with leading axes."""
    return np.einsum("...ij,...j->...i", A, x)


def errors(ours: Result, theirs: Result, lead: int, weight: float) -> dict[str, float]:
    """Relative error of every quantity that both hold; `lead` counts leading axes.

    Some quantities may vanish while their terms do not. Potential energy, whose zero is a matter of choice, is held
    against at least `weight` (N) times 1 m. As test velocities are of order 1 (m/s, rad/s), the bias rates of twists
    are held against at least 1 (m/s^2, rad/s^2), that of momentum against a tenth of the weight, and C + C^T, the rate
    of M, against M times 1/s.
    """
    M = np.abs(theirs["mass matrix"])
    least = {"potential energy": weight, "C + C^T": float(M.max()), "momentum bias": 0.1 * weight}
    out = {}
    for name in ours:
        known = theirs.get(name.removesuffix(", hamel"))
        if known is not None:
            axes = known.ndim - lead - name.startswith(PER_LINK)
            out[name] = distance(ours[name], known, axes, least=1.0 if name.startswith("Jdot v") else least.get(name, 0.0))
    return out


def stacked(each: Iterable[Result]) -> Result:
    results = list(each)
    return {name: np.stack([x[name] for x in results]) for name in results[0]}


def all_errors(model: ff.Model, states: Iterable[np.ndarray], links: Iterable[str], wrenches: Mapping[str, np.ndarray],
               theirs: Result, solve: bool = True) -> dict[str, float]:  # fmt: skip
    """Of the batch q, v, a, tau, of its states one by one ("one: ...") and of ff.all_terms ("all terms: ...")."""
    q, v, a, tau = states
    ours = {"": answers(model, q, v, a, tau, links, wrenches, solve),
            "all terms: ": answers_at_once(model, q, v, links),
            "one: ": stacked(answers(model, *x, links, wrenches, solve) for x in zip(q, v, a, tau))}  # fmt: skip
    return {f"{way}{k}": e for way, x in ours.items() for k, e in errors(x, theirs, 1, model.mass * 9.81).items()}


def too_large(found: Mapping[str, float]) -> dict[str, float]:
    return {name: e for name, e in found.items() if not e <= 1e-9}
