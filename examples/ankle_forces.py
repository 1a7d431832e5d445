"""Forces of the two ankle motors of a closed linkage for a torque at the ankle, over its pitch: where one motor must give most.

python examples/ankle_forces.py
"""

import numpy as np

import freeflyer as ff
from freeflyer import linkages

leg = linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")  # or ff.load("kangaroo.xml")
joints = ["left_ankle_pitch", "left_ankle_roll"]
motors = ["left_ankle_outer_motor", "left_ankle_inner_motor"]
torque = np.array([60.0, 15.0])  # N m, pitch and roll
print("pitch deg   outer N   inner N")
for pitch in np.radians([-20.0, -10.0, 0.0, 10.0, 20.0]):
    q = linkages.selected_posture(leg, joints, [pitch, 0.0], motors=motors)
    outer, inner = linkages.transmission(leg, q, joints, motors).forces(torque)
    print(f"{np.degrees(pitch):9.0f} {outer:9.0f} {inner:9.0f}")
