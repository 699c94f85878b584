"""Lowering: plans as the arrays that kernels read."""
