"""Event-driven contact: modes, the switch from one to the next, impacts."""
