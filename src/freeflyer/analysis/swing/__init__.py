"""A robot that sways on two feet in MuJoCo; its contact wrenches estimated from its motors."""
