"""Public names of the package and where they are defined; each is imported when it is first used."""

from . import constrained as constrained, hopping as hopping, planar as planar
from .registry import names as names, reproduce as reproduce, reproduction as reproduction
