"""For tests of readers and writers: robots, a comparison."""

import freeflyer as ff
import numpy as np
from closeness import fresh
from freeflyer.model.description import JOINT_SIZES, POINT, WELD, WORLD
from freeflyer.model.validate import WITH_AXIS
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


def differences(a, b):
    """What differs between two descriptions, but for order, zeros left out, revolute without limits or continuous."""
    x, y = meant(a), meant(b)
    pairs = [(place, x.get(place, ()), y.get(place, ())) for place in x.keys() | y.keys()]
    return [pair for pair in pairs if differ(*pair[1:])]


def meant(description):
    """Values by the place of a part, its name and its field, without fields that its kind of joint does not read."""
    found = {"gravity": description.gravity, "actuated": repr(description.actuated)}
    for place in ("links", "joints", "sites", "loops", "couplings"):
        for part in getattr(description, place):
            fields = vars(part)
            if place == "links":
                fields = {"name": part.name, **vars(part.inertia), "com": part.inertia.com * bool(part.inertia.mass)}
            if place == "joints":
                fields = {name: value for name, value in fields.items() if part.kind in READ_BY.get(name, (part.kind,))}
                fields |= {f"mimic {name}": value for name, value in vars(part.mimic).items()} if part.mimic else {}
                fields["kind"] = "continuous" if part.kind == "revolute" and not part.lower else part.kind
            found |= {(place, part.name, name): value for name, value in fields.items()}
    return found


READ_BY = {"axis": WITH_AXIS, "axis2": ("universal",), "pitch": ("helical",), "mimic": (), "initial": (), "stiffness": (),
    "spring_reference": ()}  # fmt: skip


def differ(u, v):
    if isinstance(u, str) or isinstance(v, str):
        return u != v
    u, v = np.asarray(u, float), np.asarray(v, float)
    u, v = u if u.size else np.zeros_like(v), v if v.size else np.zeros_like(u)
    return u.shape != v.shape or not np.allclose(u, v, rtol=0.0, atol=EXACT)
