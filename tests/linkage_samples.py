"""Linkages with known answers, in any orientation, and random trees cut open and closed by any mask."""

import freeflyer as ff
import numpy as np
from closeness import EXACT
from dataclasses import replace
from functools import cache
from random_robots import random_placement
from scipy.linalg import qr

MASKS = {"point": (1, 1, 1, 0, 0, 0), "hinge": (1, 1, 1, 1, 1, 0), "weld": (1, 1, 1, 1, 1, 1), "slider": (1, 1, 0, 1, 1, 1),
    "cylinder": (1, 1, 0, 1, 1, 0), "hinge_x": (1, 1, 1, 0, 1, 1), "plane": (0, 0, 1, 1, 1, 0), "one_turn": (1, 1, 1, 0, 0, 1),
    "line": (0, 1, 1, 0, 0, 0), "turns": (0, 0, 0, 1, 1, 1), "one_turn_alone": (0, 0, 0, 0, 1, 0)}  # fmt: skip
BAR = ff.Inertia(0.5, np.array([0.1, 0.0, 0.0]), np.diag([1e-4, 2e-3, 2e-3]))
KINDS = ("revolute", "prismatic", "helical", "spherical", "universal", "cylindrical", "continuous")


def shifted(x: float, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def planar(left: tuple[float, ...], right: tuple[float, ...], width: float, mask: tuple[int, ...] = MASKS["point"],
           actuated: tuple[str, ...] = ("l0",), X: np.ndarray | None = None,
           limits: dict[str, tuple[float, float]] | None = None, base: str | None = "fixed") -> ff.Model:  # fmt: skip
    """A planar linkage on a ground link: two chains of bars (lengths) from pins `width` apart, whose tips meet.

    Joints l0, l1, ..., r0, ...; all turn about the ground's z. The ground hangs at X in the world or floats.
    """
    links, joints, sites = [ff.Link("ground", BAR)], [], []
    for side, bars, at in (("l", left, 0.0), ("r", right, width)):
        parent, place = "ground", shifted(at)
        for k, length in enumerate(bars):
            name = f"{side}{k}"
            low, high = (limits or {}).get(name, (-10.0, 10.0))
            links.append(ff.Link(f"{name}_bar", BAR))
            joints.append(ff.Joint(name, "revolute", parent, f"{name}_bar", place, lower=(low,), upper=(high,)))
            parent, place = f"{name}_bar", shifted(length)
        sites.append(ff.Site(f"{side}_tip", parent, place))
    loop = ff.Loop("tips", "l_tip", "r_tip", mask)
    description = ff.Description("planar", tuple(links), tuple(joints), tuple(sites), (loop,), actuated=actuated)
    if base == "fixed":
        root = ff.Joint("root", "fixed", "world", "ground", np.eye(4) if X is None else X)
        return ff.build(replace(description, joints=(root, *description.joints)))
    return ff.load(description, base=base)


@cache
def four_bar() -> ff.Model:
    """A parallelogram on a floating base, its crank driven, and a sole under it."""

    def bar(name: str, mass: float = 1.0) -> ff.Link:
        return ff.Link(name, ff.Inertia(mass, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3)))

    def pin(name: str, parent: str, child: str, x: float) -> ff.Joint:
        return ff.Joint(name, "revolute", parent, child, shifted(x), lower=(-2.5,), upper=(2.5,))

    links = bar("ground", 5.0), bar("crank"), bar("coupler"), bar("rocker")
    joints = (ff.Joint("root", "free", "world", "ground"),
              pin("c", "ground", "crank", 0.0),
              pin("d", "crank", "coupler", 0.3),
              pin("r", "ground", "rocker", 0.5))  # fmt: skip
    places = {"end": ("coupler", 0.5), "tip": ("rocker", 0.4), "bar_sole": ("ground", 0.0), "bar_sole_1": ("ground", 0.4),
              "bar_sole_2": ("ground", -0.4)}  # fmt: skip
    sites = tuple(ff.Site(name, link, shifted(x)) for name, (link, x) in places.items())
    return ff.build(ff.Description("four bar", links, joints, sites, (ff.Loop("pin", "end", "tip"),), actuated=("c",)))


def stewart(rng: np.random.Generator, motors: bool = True) -> tuple[ff.Model, np.ndarray, np.ndarray]:
    """(model, ground points (6, 3), platform points (6, 3)): six struts universal, prismatic, point; the platform floats."""
    angles = np.pi / 3 * np.arange(6)
    pairs = 0.2 * (-1.0) ** np.arange(6)
    ground = np.stack([np.cos(angles + pairs), np.sin(angles + pairs), 0 * angles], 1)
    plate = 0.6 * np.stack([np.cos(angles - pairs), np.sin(angles - pairs), 0 * angles], 1)
    plate = plate + 0.02 * rng.standard_normal((6, 3))
    links, joints, sites, loops = [ff.Link("plate", BAR)], [ff.Joint("float", "free", "world", "plate")], [], []
    for k in range(6):
        links += [ff.Link(f"cylinder{k}", BAR), ff.Link(f"rod{k}", BAR)]
        joints.append(ff.Joint(f"swivel{k}", "universal", "world", f"cylinder{k}", shifted(*ground[k]),
                               np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])))  # fmt: skip
        joints.append(ff.Joint(f"stroke{k}", "prismatic", f"cylinder{k}", f"rod{k}", lower=(0.2,), upper=(3.0,)))
        sites += [ff.Site(f"rod_end{k}", f"rod{k}"), ff.Site(f"ball{k}", "plate", shifted(*plate[k]))]
        loops.append(ff.Loop(f"leg{k}", f"rod_end{k}", f"ball{k}"))
    actuated = tuple(f"stroke{k}" for k in range(6)) if motors else ()
    description = ff.Description("stewart", tuple(links), tuple(joints), tuple(sites), tuple(loops), actuated=actuated)
    return ff.build(description), ground, plate


def random_linkage(rng: np.random.Generator, masks: tuple[tuple[int, ...], ...], n: int = 9, kinds: tuple[str, ...] = KINDS,
        base: str = "free", at_zero: bool = False, to_world: bool = True) -> tuple[ff.Model, np.ndarray]:  # fmt: skip
    """(model, q): a random tree of n joints on a base, closed at q (or at zero) by one loop for each mask, free directions apart.

    Two tied turns leave the free axis turned by a large angle, three tied shifts none; one loop of three may end at the world.
    """
    joints = [ff.Joint("base", base, "world", "link0")]
    links = [ff.Link("link0", BAR)]
    for k in range(1, n + 1):
        kind = kinds[int(rng.integers(len(kinds)))]
        axis, axis2 = (x / np.linalg.norm(x) for x in rng.standard_normal((2, 3)))
        links.append(ff.Link(f"link{k}", BAR))
        parent = f"link{int(rng.integers(max(0, k - 3), k))}"
        joints.append(ff.Joint(f"joint{k}", kind, parent, f"link{k}", random_placement(rng), axis, axis2, pitch=0.05))
    tree = ff.build(ff.Description("random", tuple(links), tuple(joints)))
    q = ff.neutral(tree) if at_zero else ff.random_configuration(tree, rng)
    sites, loops = [], []
    for k, mask in enumerate(masks):
        b = int(rng.integers(n // 2, n + 1))
        a = int(rng.integers(0, b)) if k % 3 or not to_world else -1
        link_a, link_b = ("world" if a < 0 else f"link{a}"), f"link{b}"
        X_a = random_placement(rng)
        X_WA = ff.frame_pose(tree, q, link_a) @ X_a
        X_WB = X_WA @ _free_motion(mask, rng)
        sites += [ff.Site(f"a{k}", link_a, X_a), ff.Site(f"b{k}", link_b, np.linalg.inv(ff.frame_pose(tree, q, link_b)) @ X_WB)]
        loops.append(ff.Loop(f"loop{k}", f"a{k}", f"b{k}", tuple(mask)))
    return ff.build(replace(tree.description, sites=tuple(sites), loops=tuple(loops))), q


def _free_motion(mask: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """A pose of B in A that a mask allows: shifts along what is free, turns about what is free."""
    X = np.eye(4)
    X[:3, 3] = rng.uniform(-0.3, 0.3, 3) * (1 - np.array(mask[:3]))
    turn = (1 - np.array(mask[3:])) * rng.uniform(-1.0, 1.0, 3)
    if sum(mask[3:]) == 2:
        turn = turn * 2.8 / max(np.abs(turn).max(), 1e-9)
    X[:3, :3] = ff.spatial.quaternion.to_matrix(ff.spatial.quaternion.exp(turn))
    return X


def driven_linkage(rng: np.random.Generator, loops: int, base: str = "free", kinds: tuple[str, ...] = KINDS,
        coupled: bool = False, to_world: bool = True, joints: tuple[int, int] = (4, 10)) -> tuple[ff.Model, float]:  # fmt: skip
    """(model, condition number of the equations of its passive joints): a random tree with so many loops, closed at zero.

    Masks are random, and some loops repeat others' rows. Motors drive what is independent; linkages of conditions above 100 are
    drawn again.
    """
    while True:
        masks = tuple(MASKS[str(name)] for name in rng.choice(list(MASKS), loops))
        tree, q = random_linkage(rng, masks, int(rng.integers(*joints)), kinds, base, at_zero=True, to_world=to_world)
        assert np.abs(ff.linkages.constraint_residual(tree, q)).max() < EXACT
        tree = driven(with_coupling(tree, rng) if coupled else tree)
        if not tree.description.actuated:
            continue
        if len(ff.linkages.partition(tree).dependent) and (condition := condition_of(tree)) < 100.0:
            return tree, condition


def condition_of(tree: ff.Model) -> float:
    """Condition number of the equations of the passive joints, times what independent ones move them by."""
    split = ff.linkages.partition(tree)
    J = ff.linkages.constraint_jacobian(tree, split.q)[np.ix_(split.rows, split.dependent)]
    gain = float(np.abs(ff.velocity_map(ff.close_loops(tree), split.q)).max())
    return max(1.0, gain) * float(np.linalg.cond(J))


def with_coupling(model: ff.Model, rng: np.random.Generator) -> ff.Model:
    """A joint that no loop passes follows a cubic of another, both at zero; the same model where loops pass all."""
    J = ff.linkages.constraint_jacobian(model, model.neutral)
    single = [j for j in model.joints if j.nv == 1]
    able = [j.name for j in single if not np.abs(J[:, j.iv]).any()]
    if not able or len(single) < 2:
        return model
    follower = str(rng.choice(able))
    leader = str(rng.choice([j.name for j in single if j.name != follower]))
    coupling = ff.Coupling("cubic", follower, leader, (0.0, *rng.uniform(-0.8, 0.8, 3)))
    return ff.build(replace(model.description, couplings=(coupling,)))


def driven(tree: ff.Model) -> ff.Model:
    """Motors at the joints that others follow: those that follow have the columns farthest from depending on each other."""
    J = ff.linkages.constraint_jacobian(tree, tree.neutral)
    rank, order = np.linalg.matrix_rank(J, 1e-9), qr(J, mode="r", pivoting=True)[1]
    motors = tuple(j.name for j in tree.joints if j.nv == 1 and j.iv in order[rank:])
    return ff.build(replace(tree.description, actuated=motors))
