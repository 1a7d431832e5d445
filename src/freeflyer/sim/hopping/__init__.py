"""Hopping robots in the plane, under virtual springs on a viscoelastic floor: experiments of the decoupling thesis, and others."""
