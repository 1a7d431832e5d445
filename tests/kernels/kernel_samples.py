"""Robots and states on which the kernels are tried."""

from __future__ import annotations

import numpy as np

import freeflyer as ff
from freeflyer.kernels import entries, plain
from freeflyer.kernels.backend.buffers import Packs
from freeflyer.kernels.calls.entry import Entry, aligned_packs
from freeflyer.kernels.model import layout
from freeflyer.model.description import joint_sizes
from freeflyer.spatial import quaternion

ENTRIES = {name: entry for name, entry in vars(entries).items() if isinstance(entry, Entry)}
TREE = (  # joint kind, parent: a free base with three branches
    ("free", 0), ("revolute", 1), ("helical", 2), ("spherical", 3), ("prismatic", 4), ("continuous", 1),
    ("cylindrical", 6), ("fixed", 7), ("planar", 8), ("universal", 1), ("spherical", 10), ("revolute", 11),
)  # fmt: skip
LOOPS = (  # frames and mask: every number of tied turns, and the world
    ("link5", "link9", (1, 1, 1, 0, 0, 0)), ("link8", "tool", (1, 1, 1, 1, 1, 1)), ("link3", "link12", (1, 0, 1, 1, 0, 1)),
    ("tool", "link4", (0, 0, 0, 0, 1, 0)), ("world", "link7", (0, 1, 0, 0, 0, 1)),
)  # fmt: skip


def placement(rng: np.random.Generator) -> np.ndarray:
    """A random pose (4, 4), some decimetres away."""
    X = np.eye(4)
    X[:3, :3] = quaternion.to_matrix(quaternion.random(rng))
    X[:3, 3] = rng.uniform(-0.3, 0.3, 3)
    return X


def inertia(rng: np.random.Generator) -> ff.Inertia:
    points = rng.uniform(-0.1, 0.1, (6, 3))
    masses = rng.uniform(0.1, 0.5, 6)
    com = masses @ points / masses.sum()
    d = points - com
    outer = d[:, :, None] * d[:, None, :]
    rotational = np.einsum("k,kij->ij", masses, (d**2).sum(1)[:, None, None] * np.eye(3) - outer)
    return ff.Inertia(float(masses.sum()), com, rotational)


def tree(mimic: bool = False, seed: int = 1) -> ff.Model:
    """A tree with every joint kind, armatures and a site; with `mimic`, two more joints follow others of it."""
    rng = np.random.default_rng(seed)
    links = [ff.Link(f"link{k}", inertia(rng)) for k in range(1, len(TREE) + 1)]
    joints = []
    for k, (kind, parent) in enumerate(TREE, 1):
        axis, axis2 = (x / np.linalg.norm(x) for x in rng.standard_normal((2, 3)))
        armature = () if kind in ("free", "fixed", "spherical") else tuple(rng.uniform(0.0, 0.1, joint_sizes(kind)[1]))
        joints.append(ff.Joint(
            f"joint{k}", kind, f"link{parent}" if k > 1 else "world", f"link{k}", placement(rng), axis,
            axis2, pitch=0.1, armature=armature,
        ))  # fmt: skip
    if mimic:
        for k, (leader, ratio) in enumerate((("joint2", -1.5), ("joint5", 0.7))):
            links.append(ff.Link(f"follower{k}", inertia(rng)))
            kind = "revolute" if k == 0 else "prismatic"
            joints.append(ff.Joint(f"mimic{k}", kind, "link3" if k == 0 else "link12", f"follower{k}", placement(rng),
                                   np.array([0.0, 0.6, 0.8]), mimic=ff.Mimic(leader, ratio, 0.2)))  # fmt: skip
    site = ff.Site("tool", "link12", placement(rng))
    loops = [ff.Loop(f"loop{k}", a, b, mask) for k, (a, b, mask) in enumerate(LOOPS)]
    couplings = [ff.Coupling("cubic", "joint2", "joint5", (0.1, -0.5, 0.3, 0.2)), ff.Coupling("held", "joint6", "", (0.4,))]
    return ff.build(ff.Description("zoo", tuple(links), tuple(joints), (site,), tuple(loops), tuple(couplings)))


def states(model: ff.Model, count: int | tuple[int, ...] = (), seed: int = 2) -> tuple[np.ndarray, ...]:
    """Random q, v, and a or tau."""
    rng = np.random.default_rng(seed)
    q = ff.random_configuration(model, rng, count)
    return q, rng.standard_normal((*q.shape[:-1], model.nv)), rng.standard_normal((*q.shape[:-1], model.nv))


def arguments(model: ff.Model, entry: Entry, q: np.ndarray, v: np.ndarray, a: np.ndarray, q1: np.ndarray) -> tuple:
    """The inputs and options of an entry: its letters say which."""
    pools = {"q": [q, q1], "v": [v, a]}
    options = (len(model.frame_names) - 1, 1)[: entry.options]
    return *(pools[letter].pop(0) for letter in entry.inputs), *options


def output_shapes(model: ff.Model, name: str) -> list[tuple[int, ...]]:
    sizes = {"nq": model.nq, "nv": model.nv, "2 nv": 2 * model.nv, "bodies": int(model.topology[layout.N_BODIES]) + 1,
             "columns": int(model.topology[layout.N_COLUMNS]), "rows": model.constraint_rows[0]}  # fmt: skip
    return [tuple(sizes.get(n, n) for n in shape) for shape in plain.OUTPUTS[name]]


def compiled(model: ff.Model, name: str, *arguments: object) -> list[np.ndarray]:
    """The results of an entry's door for one state, written over NaN."""
    entry = ENTRIES[name]
    outputs = [np.full(shape, np.nan) for shape in output_shapes(model, name)]
    flat = [np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x for x in arguments]
    status = entry.single(model.handle, *flat, *outputs)
    assert status == 0, f"{name} refused a good state with status {status}"
    return outputs


def no_scratch() -> tuple[np.ndarray, np.ndarray]:
    """Scratch from which nothing can be taken."""
    return np.empty(0), np.zeros(1, np.int64)


def fresh_packs(n: int) -> Packs:
    """A row of n Packs."""
    return aligned_packs(n, no_scratch())


def packs_in(data: np.ndarray) -> Packs:
    """The row of Packs that lies in these numbers."""
    return Packs(data, *no_scratch())
