"""A report on a mechanism: its sections as pages, and all of them as one document."""
