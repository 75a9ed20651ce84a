"""Generators of the two families of synthetic data: Gaussian and ellipsoidal clusters."""

from icvi_artmap.datasets.ellipsoid import make_ellipsoid_clusters
from icvi_artmap.datasets.gaussian import make_gaussian_clusters

__all__ = ["make_ellipsoid_clusters", "make_gaussian_clusters"]
