"""Cluster validity indices, one file each; :mod:`base` says what an index provides."""
