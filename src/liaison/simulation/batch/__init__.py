"""Many runs of one mechanism."""
