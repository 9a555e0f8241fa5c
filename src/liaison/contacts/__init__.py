"""Contact with friction: event-driven, by time stepping, and among many bodies."""
