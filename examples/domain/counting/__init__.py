"""From one number to another by doubling, adding three and taking one away: a domain for paccf in four files."""
