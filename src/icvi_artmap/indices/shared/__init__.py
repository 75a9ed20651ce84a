"""What several indices have in common."""
