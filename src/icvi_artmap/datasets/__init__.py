"""The paper's data sets, and generators of its two families of synthetic data."""

from icvi_artmap.datasets.ellipsoid import make_ellipsoid_clusters
from icvi_artmap.datasets.gaussian import make_gaussian_clusters
from icvi_artmap.datasets.paper import PAPER_SETS, REAL, SYNTHETIC, load_paper_set

__all__ = [
    "PAPER_SETS",
    "REAL",
    "SYNTHETIC",
    "load_paper_set",
    "make_ellipsoid_clusters",
    "make_gaussian_clusters",
]
