"""What is decided before a run: settings, inputs, the arrays that follow from them."""
