"""Code for one robot: its kernels run once over expressions, what its numbers decide is folded, and the rest is written as code
without loops. docs/specialized.md."""
