"""The C back end: C99 text, a C compiler where there is one, packages of object code."""
