"""Draws docs/picture.png: the built-in humanoid, its mass matrix, and its centroidal momentum matrix.

Run: python docs/picture.py
"""

from pathlib import Path

import matplotlib
import numpy as np

import freeflyer as ff
from freeflyer import robots

matplotlib.use("Agg")
import matplotlib.pyplot as plt

model = robots.make("humanoid")
q = ff.neutral(model)
for joint in model.joints:  # a stride
    swing = {"left_hip_pitch": -0.6, "left_knee": 0.7, "right_hip_pitch": 0.35, "right_knee": 0.25, "left_ankle_pitch": -0.1,
             "left_shoulder_pitch": 0.5, "right_shoulder_pitch": -0.6, "left_elbow": -0.5, "right_elbow": -0.7}  # fmt: skip
    if joint.name in swing:
        q[joint.iq] = swing[joint.name]

figure, axes = plt.subplots(1, 3, figsize=(13, 4.6), width_ratios=[1.0, 1.25, 1.6], layout="constrained")
for joint in model.description.joints:
    if joint.parent == "world":
        continue
    a, b = ff.frame_pose(model, q, joint.parent)[:3, 3], ff.frame_pose(model, q, joint.child)[:3, 3]
    axes[0].plot([a[0], b[0]], [a[2], b[2]], color="#2a6f97", lw=3, solid_capstyle="round")
for site in model.description.sites:
    if "sole_" in site.name or "palm" in site.name:
        p = ff.frame_pose(model, q, site.name)[:3, 3]
        axes[0].plot(p[0], p[2], "o", color="#e07a1f", ms=4)
c = ff.center_of_mass(model, q)
axes[0].plot(c[0], c[2], "o", color="black", ms=8, mfc="white")
axes[0].annotate("centre of mass", (c[0], c[2]), (c[0] + 0.08, c[2] - 0.07), fontsize=9)
axes[0].set(aspect="equal", title=f"humanoid, {model.nv - 6} joints, {model.mass:.0f} kg", xlabel="x [m]", ylabel="z [m]")

M = np.abs(ff.mass_matrix(model, q))
A = np.abs(ff.centroidal_momentum_matrix(model, q))
for axis, matrix, title in ((axes[1], M, "mass matrix M(q)"), (axes[2], A, "centroidal momentum matrix")):
    picture = axis.imshow(np.log10(np.where(matrix < 1e-8, np.nan, matrix)), cmap="viridis", aspect="auto" if matrix is A else "equal")
    axis.set(title=title, xlabel="velocity coordinate")
    figure.colorbar(picture, ax=axis, shrink=0.8, label="log10 |entry|")
axes[2].set_yticks(range(6), ["px", "py", "pz", "kx", "ky", "kz"])
figure.savefig(Path(__file__).with_name("picture.png"), dpi=110)
