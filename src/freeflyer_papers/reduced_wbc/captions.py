"""Captions of the pictures of `freeflyer reproduce reduced-wbc`: the paper's figure, and why ours differs."""

CAPTIONS = {
    "table3_times": (
        "Table 3 drawn: parts of a control cycle from Python with each solver, beside the paper's, which were measured with OSQP "
        "in C++ on another processor. Calls from Python are most of OSQP's bars here; the tables give its own times."
    ),
    "fig4_tracking": (
        "Fig 4: tracking errors of both methods in MuJoCo. The motions are our own, as the paper draws its ones only; both methods "
        "must agree with each other, as in the paper."
    ),
    "fig5_joints": (
        "Fig 5: time of a cycle's programs against the number of joints: called from Python, and OSQP alone, setup and solution by "
        "its own clock. OSQP alone saves about as much as in the paper; calls from Python hide it."
    ),
}
