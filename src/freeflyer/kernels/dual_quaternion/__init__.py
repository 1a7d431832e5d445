"""Dynamics in dual quaternion algebra (dual quaternion paper): Newton-Euler, Gauss's principle, Gibbs-Appell, Kane.

Pure dual quaternions are pairs (primary, dual) of 3-vectors: a twist is angular + eps linear, a wrench force + eps moment. Both
change frames by the same adjoint Ad(x) h = x h x*."""
