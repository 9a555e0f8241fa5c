"""Contact with friction: event by event, by time steps, in scenes; cones are `solvers/cones`'s."""
