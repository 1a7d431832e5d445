"""For tests of readers and writers: robots, poses of their links, a comparison."""

import dataclasses
import freeflyer as ff
import numpy as np
from closeness import fresh
from freeflyer.model.description import HINGE, JOINT_SIZES, POINT, WELD, WORLD
from random_robots import random_axis as direction, random_inertia as inertia, random_placement as placement, second_axis

EXACT = 1e-12  # what a file in full precision may lose, in SI units
PENDULUM = """<robot name="pendulum"><link name="base"/>
<link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/></inertial></link>
<joint name="pin" type="revolute"><parent link="base"/><child link="rod"/><origin xyz="0 0 1" rpy="0 0.5 0"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="3" velocity="4"/><dynamics damping="0.1" friction="0.2"/>
</joint></robot>"""
MJ_PENDULUM = """<mujoco model="pendulum"><worldbody><body name="rod" pos="0 0 1"><joint name="pin" axis="0 1 0"/>
<inertial pos="0 0 -0.5" mass="2" diaginertia="0.1 0.1 0.05"/></body></worldbody></mujoco>"""

KINDS = ("revolute", "continuous", "prismatic", "spherical", "cylindrical", "planar", "universal", "fixed")


def zoo(seed=0, kinds=KINDS, base="free"):
    """A branched robot with a joint of each kind, limits and losses of each, a mimic, sites, loops and motors."""
    rng = fresh(seed)
    links, joints = [ff.Link("trunk", inertia(rng))], [ff.Joint("root_joint", base, WORLD, "trunk")]
    for k, kind in enumerate(kinds):
        nv = JOINT_SIZES[kind][1]
        limits = {}
        if nv and kind not in ("spherical", "continuous"):
            low = rng.uniform(-2.0, -0.1, nv)
            limits = {"lower": tuple(low), "upper": tuple(low + rng.uniform(0.5, 2.0, nv))}
        if nv:
            limits |= {n: tuple(rng.uniform(1.0, 9.0, nv)) for n in ("velocity", "effort")}
            limits |= {n: (float(rng.uniform(0.1, 1.0)),) * nv for n in ("armature", "damping", "friction")}
        parent = links[int(rng.integers(len(links)))].name
        links.append(ff.Link(f"link_{k}_{kind}", inertia(rng)))
        axis = direction(rng)
        joints.append(ff.Joint(f"joint_{k}_{kind}", kind, parent, links[-1].name, placement(rng), axis, second_axis(rng, axis),
            0.1 if kind == "helical" else 0.0, **limits))  # fmt: skip
    for name, ratio in (("leader", None), ("follower", -1.5)):
        links.append(ff.Link(name, inertia(rng)))
        mimic = ff.Mimic("joint_leader", ratio, 0.25) if ratio else None
        joints.append(ff.Joint(f"joint_{name}", "revolute", "trunk", name, placement(rng), mimic=mimic))
    sites = (ff.Site("tip", links[1].name, placement(rng)), ff.Site("anchor", WORLD, placement(rng)))
    loops = (ff.Loop("pin", "tip", "leader", POINT), ff.Loop("weld", links[2].name, "anchor", WELD))
    couplings = (ff.Coupling("cam", "joint_leader", "joint_follower", (0.1, 0.2, 0.3)),)
    motors = (joints[1].name, "joint_leader")
    return ff.Description("zoo", tuple(links), tuple(joints), sites, loops, couplings, motors, (0.5, 0.25, -9.5))


def with_hinge_loop(description):
    return dataclasses.replace(description, loops=(*description.loops, ff.Loop("hinge", "tip", "follower", HINGE)))


def link_poses(description, positions):
    """World pose (4, 4) of every link; `positions` maps a moving joint's name to its position (nq,)."""
    model = ff.build(description)
    q = ff.configuration(model, {name: x[0] if len(x) == 1 else x for name, x in positions.items()})
    return {name: ff.frame_pose(model, q, name) for name in (WORLD, *(link.name for link in description.links))}


def differences(a, b, tolerance=EXACT):
    """What differs between two descriptions, but for order, zeros left out, revolute without limits or continuous."""
    found = []

    def named(kind):
        x, y = ({e.name: e for e in getattr(d, kind)} for d in (a, b))
        found.extend((kind, name) for name in set(x) ^ set(y))
        return [(name, x[name], y[name]) for name in x if name in y]

    def near(what, u, v):
        u, v = np.asarray(u, float), np.asarray(v, float)
        if u.shape != v.shape or np.abs(u - v).max(initial=0.0) > tolerance:
            found.append((what, u.tolist(), v.tolist()))

    for name, x, y in named("links"):
        near((name, "mass"), x.inertia.mass, y.inertia.mass)
        near((name, "rotational"), x.inertia.rotational, y.inertia.rotational)
        if x.inertia.mass:
            near((name, "com"), x.inertia.com, y.inertia.com)
    for name, x, y in named("joints"):
        if (x.parent, x.child) != (y.parent, y.child) or (x.mimic is None) != (y.mimic is None):
            found.append((name, x, y))
        if x.kind != y.kind and not ({x.kind, y.kind} == {"revolute", "continuous"} and not x.lower):
            found.append((name, x.kind, y.kind))
        near((name, "placement"), x.placement, y.placement)
        if x.kind not in ("fixed", "free", "spherical"):
            near((name, "axis"), x.axis, y.axis)
        if x.kind == "universal":
            near((name, "axis2"), x.axis2, y.axis2)
        near((name, "pitch"), x.pitch, y.pitch)
        if x.mimic and y.mimic:
            near((name, "mimic"), (x.mimic.ratio, x.mimic.offset), (y.mimic.ratio, y.mimic.offset))
            found.extend([(name, x.mimic, y.mimic)] if x.mimic.joint != y.mimic.joint else [])
        for field in ("lower", "upper", "velocity", "effort", "armature", "damping", "friction"):
            u, v = getattr(x, field), getattr(y, field)
            if any(u) or any(v):
                near((name, field), u, v)
    for name, x, y in named("sites"):
        near((name, "placement"), x.placement, y.placement)
        found.extend([(name, x.link, y.link)] if x.link != y.link else [])
    for _, x, y in named("loops"):
        found.extend([(x, y)] if x != y else [])
    for name, x, y in named("couplings"):
        near((name, "coefficients"), x.coefficients, y.coefficients)
        found.extend([(x, y)] if (x.joint1, x.joint2) != (y.joint1, y.joint2) else [])
    found.extend([(a.actuated, b.actuated)] if a.actuated != b.actuated else [])
    near("gravity", a.gravity, b.gravity)
    return found
