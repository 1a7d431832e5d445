"""States of a model in other libraries' coordinates, by names of joints: MuJoCo, Pinocchio; postures by joint name."""
