"""Why compiled code refused a state, in a sentence: its status and the argument and state that it names are the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, prod

import numpy as np

from freeflyer.errors import FreeflyerError, InputError
from freeflyer.kernels import entries, entry as K
from freeflyer.kernels.compiler.calls.running import state
from freeflyer.kernels.entry import Entry
from freeflyer.model.inputs import coordinate_owner, not_finite, not_unit, quaternion_starts
from freeflyer.model.model import Model
from freeflyer.tolerances import NAMED_JOINT_SHARE, OVERFLOWING_INPUT

PACK = 8  # states at most, among which compiled code found numbers whose sum is not finite though each of them is


def explain_refusal(entry: Entry, model: Model, status: int, where: Sequence[int], arrays: Sequence[np.ndarray],
                    lead: tuple[int, ...], names: Sequence[str]) -> FreeflyerError:
    """The error for a refused state of inputs `arrays` (..., n), wrenches (..., k, 6), which broadcast to the batch axes `lead`."""
    if status == K.OVERLAP:
        return InputError("out shares memory with an input, or two of its arrays do: give each result an array of its own")
    if status in (K.WRONG_SIZE, K.WRONG_OPTION, K.WRONG_MODEL):
        return InputError(f"{entry.name} was called with arguments that do not fit the model {model.name!r}: is it the one meant?")
    tails = [x.shape[x.ndim - axes :] for x, axes in zip(arrays, entry.input_axes)]
    flat = [x.reshape(*x.shape[: x.ndim - len(tail)], prod(tail)) for x, tail in zip(arrays, tails)]
    arrays = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in flat]
    k, found = where[K.ARGUMENT], where[K.STATE]
    count = prod(lead)
    large = status == K.NOT_FINITE and np.isfinite(arrays[k].reshape(count, -1)[min(found, count - 1) if lead else 0]).all()
    if large:  # numbers whose sum is not finite
        status = K.REFUSED
    if lead and (large or found >= count):
        found = _largest(np.concatenate(arrays, axis=-1), found, count)
    at = tuple(int(k) for k in np.unravel_index(found, lead)) if lead else ()
    states = [x[at] for x in arrays]
    if status == K.NOT_FINITE:
        place = int(np.argmin(np.isfinite(states[k])))
        return not_finite(model, names[k], states[k][place], entry.inputs[k], (*at, place))
    if status == K.NOT_UNIT:
        lengths = {i: hypot(*states[k][i : i + 4]) for i in quaternion_starts(model)}
        worst = max(lengths, key=lambda i: abs(lengths[i] - 1.0))
        return not_unit(model, names[k], lengths[worst], worst, at)
    for name, x, letter, tail in zip(names, states, entry.inputs, tails):
        k = int(np.argmax(np.abs(x))) if x.size else 0
        if x.size and abs(x[k]) > OVERFLOWING_INPUT:
            owner = f" (joint {coordinate_owner(model, k, letter)!r})" if letter in "quv" else ""
            index = *at, *(int(i) for i in np.unravel_index(k, tail))
            return InputError(f"the result is beyond floating-point numbers: {name}{list(index)}{owner} is {x[k]:.3g}. No robot "
                "is that fast or strong: look for the step that made it grow", name=name, index=index)
    return singular(model, states[0], at)


def _largest(x: np.ndarray, found: int, count: int) -> int:
    """Of state `found` (..., n) and up to PACK before it, the number of the one that holds the largest number."""
    first = max(found - PACK, 0)
    rows = x.reshape(count, -1)[first : found + 1]
    return first + int(np.argmax(np.abs(rows).max(axis=1)))


def singular(model: Model, q: np.ndarray, at: tuple[int, ...]) -> FreeflyerError:
    """The error for a mass matrix that cannot be inverted at q (nq,), with the joint at fault; or for a linkage that cannot be
    used."""
    if model.reduction:
        return model.reduction.refuse(model, q, at)
    M = np.empty((model.nv, model.nv))
    state(entries.CRBA, model.handle, np.array(q), M)
    values, vectors = np.linalg.eigh(M)
    k = int(np.argmax(np.abs(vectors[:, 0])))
    joint = next(j.name for j in model.joints if j.iv <= k < j.iv + j.nv)
    share = {j.name: np.abs(vectors[j.iv : j.iv + j.nv, 0]).max() for j in model.joints if j.nv}
    others = [name for name, x in share.items() if name != joint and x > NAMED_JOINT_SHARE]
    still = f"joint {joint!r}, moving together with {', '.join(map(repr, others[:3]))}," if others else f"joint {joint!r}"
    spread, where = f"eigenvalues from {values[0]:.3g} to {values[-1]:.3g}", f" at state {list(at)}" if at else ""
    return InputError(f"the mass matrix of {model.name!r} is singular{where} ({spread}): {still} moves no inertia. Give its "
        "links mass, give the joint armature, or lock it (freeflyer.lock_joints)", joint=joint, eigenvalue=float(values[0]),
        index=at)
