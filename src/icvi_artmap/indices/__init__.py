"""Cluster validity indices, one file each; :mod:`contract` says what an index provides."""
