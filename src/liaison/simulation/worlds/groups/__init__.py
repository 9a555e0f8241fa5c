"""Worlds with many contacts: 32 threads step 32 worlds, and solve the contacts of each together."""
