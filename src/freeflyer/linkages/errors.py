"""The errors of closed linkages."""

from __future__ import annotations

from freeflyer.errors import FreeflyerError


class AssemblyError(FreeflyerError, ValueError):
    """Error of a linkage that does not close, or does not reach the wanted positions.

    `.data` of assemble has the worst `loop`, its `gap` (m or rad), the `index` of the posture in the batch, the nearest `q`
    and `residual`, and the `joints` of that loop that may move. keep_closed has `loop`, `gap`, `index`; selected_posture has
    `index`, `q` and the selected `joints`.

    Examples:
        >>> yaw = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_hip_yaw_link")
        >>> try:  # the linkage is stretched at 0.0465 m
        ...     ff.linkages.assemble(yaw, ff.configuration(yaw, {"left_yaw_motor": 0.1}), hold="actuated", limits=False)
        ... except ff.linkages.AssemblyError as error:
        ...     print(f"{error.data['loop']} stays open by {error.data['gap']:.4f} m")
        left_yaw_pin stays open by 0.0535 m
    """


class OpenLoopWarning(UserWarning):
    """Warning of redundant directions of loops that stay open though the linkage counts as closed.

    Examples:
        >>> import warnings
        >>> robot = ff.robots.kangaroo_like()
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("error", ff.linkages.OpenLoopWarning)  # an error instead
        ...     print(ff.linkages.assemble(robot).redundant_gap)
        0.0
    """


class LinkageError(FreeflyerError, ValueError):
    """Error of a linkage whose motors, loops or posture do not determine its dependent joints.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> try:
        ...     ff.linkages.partition(leg, leg.neutral + 0.1)
        ... except ff.linkages.LinkageError as error:
        ...     print(f"{error.data['loop']} is open by {error.data['gap']:.2f} m")
        left_hip_inner_joint is open by 0.11 m
    """
