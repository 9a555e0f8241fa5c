"""Contacts as rows: gaps, normals, tangents, and the points where bodies touch."""
