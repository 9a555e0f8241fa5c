"""What commands print: text for people and the facts of `--json`."""
