"""The room `solvers`: small linear systems, cones, impacts and pivots, for compiled loops."""
