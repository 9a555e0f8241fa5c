"""Time stepping through contacts after Moreau and Jean."""
