"""Contact problems with Coulomb friction: forces in second-order cones."""
