"""The loop language: Python functions in a small subset, compiled to LLVM and C."""
