"""What commands print: text, and the facts of `--json`."""
