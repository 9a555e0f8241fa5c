"""The GPU back end: PTX text, kernels, and the CUDA driver."""
