"""Captions of the pictures of `freeflyer reproduce reduced-wbc`: the paper's figure, and why ours differs."""

CAPTIONS = {
    "table3_times": (
        "Table 3 drawn: parts of a control cycle from Python with each solver, beside the paper's, which were measured with OSQP in "
        "C++ on another processor. The cost of calls from Python is most of the bars of OSQP; the tables give its own times."
    ),
    "fig4_tracking": (
        "Fig 4: tracking errors of both methods in MuJoCo. The motions are our own, as the paper draws its ones only; both methods "
        "must agree with each other, as in the paper."
    ),
    "fig5_joints": (
        "Fig 5: time of the programs of a cycle against the number of joints: called from Python, and OSQP alone, setup and solution "
        "by its own clock, as the paper must have measured. The saving of OSQP alone is of the paper's size; the cost of calls hides it."
    ),
}
