"""An independent look at a solution of a hierarchy: by how much each level could still be better, by PIQP."""

import numpy as np
import piqp

NONE = 1e30  # a limit that is none
NOISE = 1e-9  # of a row's terms: violations below are none
SAME = 1e-9  # of an upper level's violation: what a step may add to it


def improvements(A, lower, upper, weights, ends, H, x):
    """For each level the share of its violation that a step takes away while levels above keep their values; 0 at an optimum.

    The step solves a quadratic program in the directions that equations and violated rows of levels above leave free. It is scaled
    by the length of x, violations by the level's. Steps that worsen an upper level, by PIQP's inaccuracy, show nothing."""
    scale = np.sqrt(weights)
    R = np.linalg.cholesky(H)
    T = scale[:, None] * np.linalg.solve(R, A.T).T  # rows in coordinates in which H is the identity
    value, low, high, far = scale * (A @ x), scale * lower, scale * upper, np.linalg.norm(R.T @ x) + 1e-12
    missed, equal, size = value - np.clip(value, low, high), low == high, np.linalg.norm(T, axis=1) + 1e-300
    fixed, begin, found = np.zeros(len(T), bool), 0, []
    for end in ends:
        own, above = np.arange(len(T)) < end, np.arange(len(T)) < begin
        own &= ~above
        violation = np.linalg.norm(missed[own])
        _, values, V = np.linalg.svd(np.concatenate([T[fixed] / size[fixed, None], np.zeros((1, len(x)))]))
        N = V[int((values > 1e-11).sum()) :].T
        share = 0.0
        if violation > NOISE * far * np.linalg.norm(size[own]) and N.shape[1]:
            d = _step(T @ N, own & equal, own & ~equal, above & ~fixed, value, low, high, missed, far, violation)
            after = value + T @ (N @ d)
            left = after - np.clip(after, low, high)
            levels = [(slice(a, b), NOISE * far * np.linalg.norm(size[a:b])) for a, b in zip((0, *ends), ends) if b <= begin]
            worse = [np.linalg.norm(left[k]) > (1.0 + SAME) * np.linalg.norm(missed[k]) + SAME * room for k, room in levels]
            share = 0.0 if any(worse) else 1.0 - np.linalg.norm(left[own]) / violation
        found.append(max(share, 0.0))
        fixed |= own & (equal | (np.abs(missed) > NOISE * far * size))
        begin = end
    return found


def _step(B, equations, soft, hard, value, low, high, missed, far, violation):
    """Step (r,) of least squares of B z with soft rows outside of their limits, hard rows within: variables z and violations."""
    hard = hard & (np.linalg.norm(B, axis=1) > 0.0)
    r, e, s, h = B.shape[1], equations.sum(), soft.sum(), hard.sum()
    lengths = np.linalg.norm(B[hard], axis=1)
    P, C, G = np.zeros((r + e + s, r + e + s)), np.zeros((e, r + e + s)), np.zeros((h + s, r + e + s))
    P[r:, r:] = np.eye(e + s)
    C[:, :r], C[:, r : r + e] = far / violation * B[equations], -np.eye(e)
    G[:h, :r], G[h:, :r], G[h:, r + e :] = B[hard] / lengths[:, None], far / violation * B[soft], np.eye(s)
    room = [np.where(np.isfinite(x), x - value, x) for x in (low, high)]  # hard rows may stay where they are
    room[0], room[1] = np.where(hard, np.minimum(room[0], 0.0), room[0]), np.where(hard, np.maximum(room[1], 0.0), room[1])
    least, most = (np.clip(np.append(x[hard] / lengths / far, x[soft] / violation), -NONE, NONE) for x in room)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs, solver.settings.eps_rel, solver.settings.max_iter = 1e-12, 0.0, 300
    solver.settings.reg_lower_limit, solver.settings.reg_finetune_lower_limit = 1e-13, 1e-14
    bounds = np.full(r + e + s, NONE)
    solver.setup(P, np.zeros(r + e + s), C, -missed[equations] / violation, G, least, most, -bounds, bounds)
    solver.solve()
    return far * solver.result.x[:r]
