"""A thousand double pendulums let go at once: their energies after two seconds, and how far neighbours have come apart.

python examples/many_falls.py [states]
"""

import sys
import time

import numpy as np

import freeflyer as ff

states = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
model = ff.robots.chain(2, length=0.5)
q = np.stack([np.linspace(2.0, 2.0001, states), np.ones(states)], axis=-1)  # rad; almost the same
v, tau, dt = np.zeros((states, 2)), np.zeros(2), 1e-3
before = ff.potential_energy(model, q)
begin = time.perf_counter()
for _ in range(2000):
    q, v = ff.step(model, q, v, tau, dt, integrator="rk4")
spent = time.perf_counter() - begin
energy = ff.kinetic_energy(model, q, v) + ff.potential_energy(model, q)
print(f"energy kept to {np.abs(energy - before).max():.1e} J; 1e-4 rad at the start became {np.ptp(q[:, 1]):.1e} rad")
print(f"{1e9 * spent / (2000 * states):.0f} ns a step and robot")
