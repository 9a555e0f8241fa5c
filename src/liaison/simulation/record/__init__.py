"""Results: trajectories, labelled series, files."""
