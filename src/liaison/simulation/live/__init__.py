"""Runs that go on in a browser: a mechanism with its time loop as one WebAssembly module."""
