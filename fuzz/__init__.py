"""A campaign against the package: hostile input in large numbers (docs/reliability.md)."""
