"""Evidence: figures from records alone, with no model call."""
