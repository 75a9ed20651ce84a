"""The data as kernels see them: scaled rows, and the moments of clusters."""
