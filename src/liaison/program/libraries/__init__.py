"""Shared libraries for Linux, Windows and macOS, written without compiler or linker."""
