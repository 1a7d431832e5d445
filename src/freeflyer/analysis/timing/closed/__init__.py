"""Closed linkages on the bench: constraint rows and constrained dynamics, beside Pinocchio and MuJoCo."""
