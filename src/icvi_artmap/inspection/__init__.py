"""Why samples belong to their clusters."""
