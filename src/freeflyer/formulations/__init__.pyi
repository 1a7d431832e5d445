"""The formulations, each imported when it is first used."""

from . import (
    constrained as constrained,
    dual_quaternion as dual_quaternion,
    gauss as gauss,
    geometric as geometric,
    gibbs_appell as gibbs_appell,
    kane as kane,
)
