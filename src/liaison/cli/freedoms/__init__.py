"""Commands about degrees of freedom: mobility, assemble, singular."""
