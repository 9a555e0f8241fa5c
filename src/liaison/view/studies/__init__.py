"""Pictures of studies: scatter, parallel coordinates, envelopes, response surfaces, one page."""
