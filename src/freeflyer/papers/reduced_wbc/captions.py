"""What the pictures of `freeflyer reproduce reduced-wbc` show beside the paper's figures, and why they differ."""

CAPTIONS = {
    "table3_times": (
        "Table 3 drawn: parts of a control cycle with each solver, beside the paper's, which were measured with OSQP in C++ on "
        "another processor."
    ),
    "fig4_tracking": (
        "Fig 4: tracking errors of both methods in MuJoCo. The motions are our own, as the paper draws its ones only; both methods "
        "must agree with each other, as in the paper."
    ),
    "fig5_joints": (
        "Fig 5: a cycle's time against the number of joints. The saving depends on the solver: the terms of the state, which both "
        "methods need, are a larger share here than in the paper."
    ),
}
