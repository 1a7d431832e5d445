"""How hard a standing humanoid can be pushed in each direction before it must step, for postures from upright to crouched.

python examples/push_limits.py
"""

import numpy as np

import freeflyer as ff
from freeflyer import control

model = ff.robots.humanoid()
directions = np.radians(np.arange(0, 360, 45))  # from forward to the left
print("knee deg " + " ".join(f"{a:7.0f}" for a in np.degrees(directions)) + "   direction, deg; N s")
for knee in (0.2, 0.8, 1.4):
    q = ff.robots.standing_posture(model, knee=knee)
    limits = control.max_push_impulse(model, q, np.zeros(model.nv), directions)
    print(f"{np.degrees(knee):8.0f} " + " ".join(f"{x:7.1f}" for x in limits))
