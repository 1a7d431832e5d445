"""Similarity of waveforms that several methods give for the same motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_array
from freeflyer.model.public import public


@public
def multiple_correlation(waveforms: ArrayLike) -> np.ndarray:
    """Coefficient of multiple correlation (CMC) of waveforms that P methods give for the same G motions, synchronously.

    Ferrari, Cutti, Cappello: A new formulation of the coefficient of multiple correlation to assess the similarity of waveforms
    measured synchronously by different motion analysis protocols (2010). With Y_gpf sample f of method p in motion g, its mean over
    methods Y_gf and over methods and samples Y_g:

        CMC^2 = 1 - [sum (Y_gpf - Y_gf)^2 / (G F (P - 1))] / [sum (Y_gpf - Y_g)^2 / (G (P F - 1))]

    Differences in offset, size and phase all lower it. Waveforms that do not vary at all are identical: 1.

    Args:
        waveforms: (..., P, F) or (..., G, P, F) array, F samples of P waveforms, in any unit: two axes for one motion (G = 1),
            three or more with the motions before the methods.
    Returns: (...) array, 1 for identical waveforms, towards 0 for unrelated ones. NaN if the waveforms differ by more than
    they vary in time (the root of a negative number; the paper calls them dissimilar).
    Raises: InputError for less than two methods or two samples, and numbers that are not finite.

    Examples:
        >>> t = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
        >>> for other in (np.sin(t), np.sin(t) + 0.2, 1.2 * np.sin(t), np.sin(t + 0.2), np.cos(t), -np.sin(t)):
        ...     print(f"{ff.analysis.multiple_correlation([np.sin(t), other]):.4f}")
        1.0000
        0.9802
        0.9918
        0.9900
        0.0500
        nan
    """
    Y = finite_array("waveforms", waveforms)
    if Y.ndim < 2 or Y.shape[-2] < 2 or Y.shape[-1] < 2:
        raise InputError(
            f"waveforms must have two methods and two samples at least, (..., P, F) or (..., G, P, F), got shape {Y.shape}",
            shape=Y.shape,
        )
    Y = Y[None] if Y.ndim == 2 else Y
    G, P, F = Y.shape[-3:]
    if not G:
        raise InputError(f"waveforms must hold one motion at least, (..., G, P, F), got shape {Y.shape}", shape=Y.shape)
    apart = Y - Y.mean(axis=-2, keepdims=True)
    varied = Y - Y.mean(axis=(-2, -1), keepdims=True)
    within = (apart**2).sum(axis=(-3, -2, -1)) / (G * F * (P - 1))
    total = (varied**2).sum(axis=(-3, -2, -1)) / (G * (P * F - 1))
    ratio = np.divide(within, total, out=np.zeros_like(total), where=total > 0.0)
    with np.errstate(invalid="ignore"):
        return np.sqrt(1.0 - ratio)
