"""Equations of both hoppers written by hand, from positions of point masses: independent of the library."""

import numpy as np
from dataclasses import dataclass
from scipy.integrate import solve_ivp

GRAVITY, HALF = 9.8, 0.06


def point_masses(kind: str, q: np.ndarray, v: np.ndarray) -> list[tuple[float, np.ndarray, np.ndarray, np.ndarray]]:
    """(mass, position, Jacobian, Jdot v) of each; the foot is last."""
    x, z, a, s = q
    w = v[2]

    def point(mass: float, parts: list[tuple[float, float, float, np.ndarray]]) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        p, J, b = np.array([x, z]), np.zeros((2, 4)), np.zeros(2)
        J[:, :2] = np.eye(2)
        for length, angle, rate, row in parts:
            e, n = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
            p, J, b = p + length * e, J + length * np.outer(n, row), b - length * rate**2 * e
        return mass, p, J, b

    trunk_turns, shank_turns = np.array([0.0, 0, 1, 0]), np.array([0.0, 0, 1, 1])
    if kind == "prismatic":
        trunk, foot = point(0.957, []), point(0.05, [(s, a, w, trunk_turns)])
        e, n = np.array([np.cos(a), np.sin(a)]), np.array([-np.sin(a), np.cos(a)])
        J = foot[2] + np.outer(e, [0.0, 0, 0, 1])
        return [trunk, (0.05, foot[1], J, foot[3] + 2.0 * v[3] * w * n)]
    b, u = a + s, w + v[3]
    thigh = [(2 * HALF, a, w, trunk_turns)]
    return [point(0.835, []), point(0.122, [(HALF, a, w, trunk_turns)]), point(0.05, [*thigh, (HALF, b, u, shank_turns)]),
            point(0.0, [*thigh, (2 * HALF, b, u, shank_turns)])]  # fmt: skip


@dataclass
class Hopper:
    """kind, and the numbers of the controllers."""

    kind: str
    K: float = 2200.0
    D: float = 0.0
    Kp: float = 0.0
    KE: float = 0.0
    length: float = 0.1411
    energy: float = 0.0
    stiffness: float = 1e4
    damping: float = 1e3

    def facts(self, x: np.ndarray) -> tuple:
        q, v = x[:4], x[4:8]
        points = point_masses(self.kind, q, v)
        total = sum(p[0] for p in points)
        c, Jc = (sum(p[0] * p[k] for p in points) / total for k in (1, 2))
        _, f, Jf, _ = points[-1]
        return points, c, Jc, f, Jf, Jf @ v

    def rates(self, x: np.ndarray, anchor: float | None) -> np.ndarray:
        v = x[4:8]
        points, c, Jc, f, Jf, foot_speed = self.facts(x)
        M = sum(m * J.T @ J for m, _, J, _ in points)
        bias = sum(m * J.T @ (b + [0.0, GRAVITY]) for m, _, J, b in points)
        o, J = f - c, Jf - Jc
        r = np.hypot(*o)
        Jr, Ja = o @ J / r, np.array([-o[1], o[0]]) @ J / r**2
        E = 0.5 * v @ M @ v + sum(m * GRAVITY * p[1] for m, p, *_ in points) + 0.5 * self.K * (r - self.length) ** 2
        radial = -self.K * (r - self.length) - self.KE * (E - self.energy) * (Jr @ v)
        tau = np.zeros(4)
        if anchor is None:
            radial -= self.D * (Jr @ v)
        else:
            angle = np.arctan2(o[1], o[0]) + np.pi / 2
            tau += Ja * -self.Kp * angle
            F = -self.stiffness * (f - [anchor, 0.0]) - self.damping * foot_speed
            tau += Jf.T @ [F[0], max(F[1], 0.0)]
        return np.r_[v, np.linalg.solve(M, tau + Jr * radial - bias)]

    def run(self, x: np.ndarray, duration: float) -> np.ndarray:
        """The state a while later: from one passage of the foot through the ground to the next."""
        t, anchor = 0.0, None
        while t < duration:
            def height(_: float, y: np.ndarray) -> float:
                return self.facts(y)[3][1]

            height.terminal, height.direction = True, 1.0 if anchor is not None else -1.0
            found = solve_ivp(lambda _, y, anchor=anchor: self.rates(y, anchor), (t, duration), x, "Radau", rtol=1e-9,
                              atol=1e-11, events=height, first_step=1e-7)  # fmt: skip
            assert found.success
            t, x = found.t[-1], found.y[:, -1]
            if found.status == 1:
                anchor = self.facts(x)[3][0] if anchor is None else None
        return x
