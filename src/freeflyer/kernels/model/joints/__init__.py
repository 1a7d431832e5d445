"""Everything that depends on the kind of a joint; algorithms call these functions and never look at a kind.

A joint places its body's frame by (rotation, translation) in a resting frame that is fixed to the parent body. It has one column
per degree of freedom: a unit motion that is constant in the body's own axes, so that no joint has a velocity-product term of its
own. Its velocity coordinates are the rates along these columns.

* A screw (SCREW) has one column: it turns about its body's z axis by TURN q + TURN_OFFSET and slides along it by
  SLIDE q + SLIDE_OFFSET (revolute, prismatic, helical; with ratio and offset, mimic). Any joint of one constant column is a
  screw, and chains of screws make cylindrical, universal and planar joints: see model/build.py.
* All other kinds have several columns, each one of the six unit twists of the body: velocities along x, y, z, then angular
  velocities about x, y, z. Only some of the twist's coordinates need be there, but they must be closed under the Lie bracket.
  kinds.py is the switch between them: which unit twists, which rotation and translation, how coordinates are integrated.
  BALL: the three angular ones; q is a unit quaternion. FLOATING: all six; q is position and unit quaternion.

| file | content |
|---|---|
| placement | angles, sines and cosines; poses of bodies in their parents; vectors and inertias to the child and to the parent |
| motion | velocities and accelerations across a joint; forces along its columns; the same in dual quaternions |
| columns | columns in world axes, in a frame's axes; articulated inertias times columns; Lie brackets of a joint's velocity |
| kinds | the switch between kinds of several columns; moving along coordinates, differences of coordinates |"""
