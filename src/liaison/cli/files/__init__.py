"""Commands about files: check one, write one as LSD, as C or for GPUs."""
