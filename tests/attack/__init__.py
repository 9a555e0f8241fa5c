"""Attacks on the edges: files, arguments, disks, signals, memory; see `make attack`."""
