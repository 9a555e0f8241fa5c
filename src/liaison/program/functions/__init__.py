"""The folder `program/functions`: elementary functions as loops, the same bits on every machine."""
