"""A domain of one's own for paccf's engine: from a number, reach another in a few steps."""
