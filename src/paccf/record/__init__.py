"""What a search leaves behind, in files that outlive it."""
