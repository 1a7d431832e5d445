"""The papers behind freeflyer, reproduced: every table and figure computed again, beside the paper's numbers.

    import freeflyer_papers

    result = freeflyer_papers.reproduce("linearization", progress=print)

`hopping` has the hopping experiments of the decoupling thesis, `planar` its planar robots in closed form. `constrained` has motion
under constraints by the equations of Udwadia and Kalaba, as the dual quaternion paper has them."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
