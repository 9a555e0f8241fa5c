"""Kernels for mechanisms of many bodies: loops over tables instead of unrolled formulas."""
