"""Who answers a prompt."""
