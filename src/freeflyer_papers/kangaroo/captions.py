"""What the pictures of `freeflyer reproduce kangaroo` show beside the paper's figures, and why they differ."""

CAPTIONS = {
    "fig5_manipulability": (
        "Fig 5: normalised manipulability of the left leg, position above, orientation below. Each measure is divided by its own "
        "largest value. Postures beyond a joint's stop are left out, so the cloud ends below the paper's, which draws the whole "
        "stroke of the leg."
    ),
    "fig7_hip": (
        "Fig 7: limits of hip roll and pitch through the linkage, and as a box. Left and right are cut by the stop of the roll "
        "joint, as in the paper; above and below by the motors' strokes. The hip of the public model is over-constrained: where "
        "other rows of its loops are solved, its joints stand up to half a degree elsewhere."
    ),
    "fig11_ankle": (
        "Fig 11: the same of the ankle, at the reference length of the leg."
    ),
    "fig12_knee": (
        "Fig 12: the knee over the stroke of the length motor, with the line of least squares. The paper draws a line and gives no "
        "numbers."
    ),
    "fig13_level_foot": (
        "Fig 13: the joints while the foot keeps its orientation against the hip; the ankle's motors rest. Beyond the grey edge "
        "the pitch joint of the ankle would pass its stop in the public model; the paper draws the whole stroke."
    ),
    "fig14_fixed_ankle": (
        "Fig 14: the joints while the ankle's pitch is kept, as the paper's text says (its caption names the knee, which cannot "
        "stay while the leg retracts); the ankle's motors leave their strokes."
    ),
    "fig15_force": (
        "Fig 15: force at the sole for 5000 N at the length motor. In between when stretched, largest half way, smallest when "
        "compressed, as in the paper; the height of the curve depends on dimensions, which the paper's axis gives and its text "
        "does not."
    ),
    "fig13_squat": (
        "Fig 13 on two feet, in MuJoCo: the length motors move, all others hold their places. The paper shows such a motion in its "
        "video. The robot turns round before the ankle's stop."
    ),
    "fig13_squat_course": (
        "The same squat over time: motors, ankle pitch and its stop, tilt of the soles against the floor."
    ),
    "fig18_calibration": (
        "Fig 18: norm of closure and encoders over Newton's steps, with the paper's encoders, from six starts and more. The paper "
        "takes more, shorter steps, of a gain that it does not give."
    ),
    "fig19_tracking": (
        "Fig 19: motors and their estimates along sinusoids of our choice, which the paper does not give; below, how far the loops "
        "are open, for ideal and real encoders and two gains."
    ),
    "fig21_stances": (
        "Fig 21: the extremes of a lateral swing, in MuJoCo where the paper has photographs of the robot; arrows of equal length "
        "are equal forces."
    ),
    "fig22a_forces": (
        "Fig 22 (a): contact forces from motor forces beside the simulator's contacts, which the hardware cannot measure. The "
        "robot weighs 42 kg with its protection cages, the paper's 36 kg."
    ),
    "fig22b_balance": (
        "Fig 22 (b): zero-moment point and centres of pressure, over time and on the floor."
    ),
}
