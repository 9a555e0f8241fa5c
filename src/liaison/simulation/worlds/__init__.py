"""Many worlds of one mechanism at once, on a GPU or on this processor."""
