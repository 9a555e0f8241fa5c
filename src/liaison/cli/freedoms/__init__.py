"""Commands about freedoms: mobility, assemble, singular."""
