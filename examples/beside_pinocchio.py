"""Dynamics of a URDF file here and in Pinocchio: the largest relative difference of five quantities at random states.

python examples/beside_pinocchio.py robot.urdf        (without a file: TALOS of example-robot-data)
"""

import sys
import sysconfig
from pathlib import Path

import numpy as np
import pinocchio as pin

import freeflyer as ff

folder = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
path = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "talos_data/robots/talos_reduced.urdf"
theirs = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
data, model, rng = theirs.createData(), ff.load(path, base="free"), np.random.default_rng(0)
worst: dict[str, float] = {}
for _ in range(20):
    q = ff.random_configuration(model, rng)
    v, a = rng.standard_normal((2, model.nv))
    x = ff.to_pinocchio(model, theirs, q, v, a)
    forces = [pin.rnea(theirs, data, x.q, x.v, x.a), pin.nonLinearEffects(theirs, data, x.q, x.v)]
    pairs = {
        "inverse dynamics": (ff.inverse_dynamics(model, q, v, a), ff.from_pinocchio(model, theirs, x.q, x.v, x.a, forces[0]).tau),
        "bias forces": (ff.bias_forces(model, q, v), ff.from_pinocchio(model, theirs, x.q, x.v, bias_forces=forces[1]).bias_forces),
        "centre of mass": (ff.center_of_mass(model, q), pin.centerOfMass(theirs, data, x.q)),
        "momentum": (ff.centroidal_momentum(model, q, v), pin.computeCentroidalMomentum(theirs, data, x.q, x.v).vector),
        "kinetic energy": (ff.kinetic_energy(model, q, v), pin.computeKineticEnergy(theirs, data, x.q, x.v)),
    }
    for name, (ours, other) in pairs.items():
        worst[name] = max(worst.get(name, 0.0), float(np.abs(ours - other).max() / np.abs(other).max()))
print(f"{path.name}: nv {model.nv}")
for name, error in worst.items():
    print(f"{name:17} {error:.1e}")
