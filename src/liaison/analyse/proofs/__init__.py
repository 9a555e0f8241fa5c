"""First integrals, integrability, ranks and reduced equations, proved."""
