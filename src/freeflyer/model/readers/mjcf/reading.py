"""MJCF to Description, through MuJoCo's own compiler: its classes, angle units and inertias mean what they mean there.

Bodies become links, a body with several joints a chain of joints through massless links named "body/joint"; bodies without joints
are fixed to their parent. q means what qpos means in MuJoCo (`ref` included), quaternions in our order. connect and weld become
loops, a linear joint equality a mimic, other joint equalities couplings, keyframes named postures. Ignored, and listed in `notes`
where they act on the motion: tendons, contacts, flexes, mocap, plugins, fluid. Mesh files are read only where a body has no
<inertial>: MuJoCo then computes it."""

import os
from dataclasses import replace
from typing import Any

import numpy as np

from freeflyer.model.description import Description
from freeflyer.model.readers.mjcf.bodies import read_model
from freeflyer.model.readers.mjcf.compiling import Compiled, compile_spec, compile_xml
from freeflyer.model.readers.mjcf.equalities import read_equalities, read_keyframes
from freeflyer.model.readers.mjcf.gate import vet
from freeflyer.text import listed


def read_mjcf(source: str | os.PathLike[str]) -> Description:
    """The robot of an MJCF file, or of MJCF text (a string that begins with '<').

    Included files and meshes must lie in the folder of the file (text has none). FileError where the file is broken, or where
    MuJoCo refuses it; the message contains MuJoCo's own."""
    return _describe(compile_xml(vet(source)))


def read_spec(spec: Any) -> Description:
    """The robot of a mujoco.MjSpec, which is left as it is. Its XML passes the same checks as a file; numbers keep their digits.

    Meshes that shape an inertia must lie in the folder of the file that the specification was read from, or be among its assets.
    Errors: as read_mjcf."""
    return _describe(compile_spec(spec))


def _describe(compiled: Compiled) -> Description:
    with np.errstate(all="ignore"):  # numbers that overflow are refused by `validate`
        description = read_model(compiled)
        description = read_equalities(description, compiled)
        description = read_keyframes(description, compiled.file)
    notes = dict.fromkeys([*compiled.file.notes, *list_ignored(compiled)])
    return replace(description, notes=tuple(notes), base="file")


def list_ignored(compiled: Compiled) -> list[str]:
    m, bodies, joints = compiled.model, compiled.bodies, compiled.joints
    poly = getattr(m, "dof_dampingpoly", np.zeros((m.nv, 0)))  # older MuJoCo has linear damping only
    nonlinear = sorted({int(m.dof_jntid[d]) for d in range(m.nv) if poly[d].any()})
    bent = getattr(m, "jnt_stiffnesspoly", np.zeros((m.njnt, 0)))
    helped = [bodies[b] for b in range(m.nbody) if m.body_gravcomp[b]]
    found = {
        "the springs of these joints are no part of the equations of motion (see freeflyer.passive_forces)": [
            joints[j] for j in range(m.njnt) if m.jnt_stiffness[j]],
        "the nonlinear part of the springs of these joints is ignored": [joints[j] for j in range(m.njnt) if bent[j].any()],
        "the nonlinear damping of these joints is ignored": [joints[j] for j in nonlinear],
        "these mocap bodies are fixed to the world": [bodies[b] for b in range(m.nbody) if m.body_mocapid[b] >= 0],
        "the gravity compensation of these bodies is ignored": helped}
    notes = [f"{what}: {listed(names)}" for what, names in found.items() if names]
    if m.opt.density or m.opt.viscosity:
        notes.append("the forces of the surrounding fluid are ignored")
    return notes
