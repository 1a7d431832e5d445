"""What the pictures of `freeflyer reproduce linearization` show beside the paper's figures, and why they differ."""

CAPTIONS = {
    "fig4_robot": (
        "Fig 4: a branched robot with a moving base, revolute, prismatic and helical joints, in both postures. Its dimensions are "
        "our own: the paper draws its robot and gives none."
    ),
    "table1_requirements": (
        "Table 1, two requirements drawn: no attitude is special (left), and (A, B) predicts motions of a moving base to the "
        "second order (right)."
    ),
    "fig5_differences": (
        "Fig 5: geometric finite differences against the exact linearisation. As in the paper the error falls with the step until "
        "round-off rises; numbers differ with the robot."
    ),
    "cost": (
        "Cost against size, measured and counted, which the paper states as recursive and does not measure."
    ),
}
