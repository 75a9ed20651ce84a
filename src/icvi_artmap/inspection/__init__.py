"""What a fitted model says about samples and clusters: why, what sets apart, how certain."""
