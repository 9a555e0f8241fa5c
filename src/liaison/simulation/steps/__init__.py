"""One time step: methods, step size, projection, and the time loop around them."""
