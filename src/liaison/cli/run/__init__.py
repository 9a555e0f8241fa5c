"""Commands that run a mechanism: simulate, animate, motion, verify, convergence."""
