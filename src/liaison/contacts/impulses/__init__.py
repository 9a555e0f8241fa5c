"""Contact impulses of a scene: sweeps, and an interior-point method for all at once."""
