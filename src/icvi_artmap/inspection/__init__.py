"""Why samples belong to their clusters, what sets clusters apart, which samples are uncertain."""
