"""WebAssembly: modules of a program's entries and of loops, written byte by byte."""
