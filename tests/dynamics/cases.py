"""Random robots at random states, as hypothesis draws them: small numbers and a seed, so that a failure shrinks and repeats."""

import freeflyer as ff
import numpy as np
from dataclasses import dataclass
from hypothesis import settings, strategies as st
from random_robots import BASES, KINDS, random_robot

few = settings(max_examples=40)


@dataclass(frozen=True, repr=False)
class Case:
    """A robot and a state: q (nq,), and v, a, tau (nv,) of order 1 (SI units, radians)."""

    label: str
    model: ff.Model
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    rng: np.random.Generator

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        printer.text(self.label)  # how to make it again, instead of all its numbers

    def __repr__(self) -> str:
        return self.label

    @property
    def links(self) -> list[str]:
        """Those that move."""
        above = {j.child: j for j in self.model.description.joints}
        still = {"world"}
        for name in self.model.link_names:
            way = [name]
            while way[-1] in above and above[way[-1]].kind == "fixed":
                way.append(above[way[-1]].parent)
            still |= {name} if way[-1] == "world" else set()
        return [name for name in self.model.link_names if name not in still]


@st.composite
def cases(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, bases: tuple[str, ...] = BASES, most: int = 9) -> Case:
    """A robot of up to `most` joints beyond its base."""
    base = draw(st.sampled_from(bases))
    n = draw(st.integers(1 if base == "fixed" else 0, most))
    mimics, armature, seed = draw(st.booleans()), draw(st.booleans()), draw(st.integers(0, 2**32 - 1))
    return case(seed, n, kinds, base, 0.4 if mimics else 0.0, armature)


def case(seed: int, n: int, kinds: tuple[str, ...] = KINDS, base: str = "free", mimics: float = 0.4,
         armature: bool = True) -> Case:  # fmt: skip
    rng = np.random.default_rng(seed)
    model = random_robot(rng, n, kinds, base, mimics, armature)
    while model.nv == 0:  # all joints fixed, to a fixed base
        model = random_robot(rng, n, kinds, base, mimics, armature)
    v, a, tau = rng.standard_normal((3, model.nv))
    label = f"case({seed}, {n}, {kinds}, {base!r}, {mimics}, {armature})"
    return Case(label, model, ff.random_configuration(model, rng), v, a, tau, rng)
