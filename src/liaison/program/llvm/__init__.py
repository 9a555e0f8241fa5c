"""The LLVM back end: entries as machine code, on one state and on many."""
