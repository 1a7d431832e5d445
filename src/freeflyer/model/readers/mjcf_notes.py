"""What acts on the motion in MuJoCo and is not read: one note each."""

from __future__ import annotations

import numpy as np

from freeflyer.model.readers.mjcf_spec import Compiled


def list_ignored(compiled: Compiled) -> list[str]:
    """Notes on springs, mocap bodies, gravity compensation, nonlinear damping and fluid."""
    m, bodies, joints = compiled.model, compiled.bodies, compiled.joints
    poly = getattr(m, "dof_dampingpoly", np.zeros((m.nv, 0)))  # older MuJoCo has linear damping only
    nonlinear = sorted({int(m.dof_jntid[d]) for d in range(m.nv) if poly[d].any()})
    bent = getattr(m, "jnt_stiffnesspoly", np.zeros((m.njnt, 0)))
    helped = [bodies[b] for b in range(m.nbody) if m.body_gravcomp[b]]
    found = {
        "the springs of these joints are no part of the equations of motion (see freeflyer.passive_forces)": [
            joints[j] for j in range(m.njnt) if m.jnt_stiffness[j]
        ],
        "the nonlinear part of the springs of these joints is ignored": [joints[j] for j in range(m.njnt) if bent[j].any()],
        "the nonlinear damping of these joints is ignored": [joints[j] for j in nonlinear],
        "these mocap bodies are fixed to the world": [bodies[b] for b in range(m.nbody) if m.body_mocapid[b] >= 0],
        "the gravity compensation of these bodies is ignored": helped,
    }
    notes = []
    for what, names in found.items():
        if names:
            more = f", ... ({len(names)} in all)" if len(names) > 6 else ""
            notes.append(f"{what}: {', '.join(names[:6])}{more}")
    if m.opt.density or m.opt.viscosity:
        notes.append("the forces of the surrounding fluid are ignored")
    return notes
