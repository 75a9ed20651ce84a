"""From samples to a trained network: Algorithm 1, and what goes beyond it."""
