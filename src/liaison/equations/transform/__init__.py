"""Equations transformed: reduced, treated, stabilized, in other coordinates."""
