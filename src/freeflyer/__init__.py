"""freeflyer: dynamics, analysis, estimation and control of floating-base robots.

    import freeflyer as ff

    model = ff.load("robot.urdf")
    M = ff.mass_matrix(model, ff.neutral(model))

The file `__init__.pyi` lists the public names; a name's module is imported when the name is first used."""

from freeflyer.lazy import attach_stub
from freeflyer.shown import provide_display
from freeflyer.version import __version__ as __version__

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)


def _display():  # type: ignore[no-untyped-def]
    from freeflyer.viewer import display

    return display


provide_display(_display)
