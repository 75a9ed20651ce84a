"""A picture of distances: clusters before clustering."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icvi_artmap._support.validation import check_truth
from icvi_artmap.plotting import drawing, samples
from icvi_artmap.samples.scaling import learn_scaling
from icvi_artmap.tendency.distances import Distances, PathRows, image
from icvi_artmap.tendency.vat import MOST_PIXELS, checked_distances, checked_size


class VATDisplay:
    """Picture of the distances in the order of :func:`vat`: clusters are dark squares.

    Made by :meth:`from_data` or :meth:`from_distances`; :meth:`plot` draws it.

    Parameters
    ----------
    image : ndarray of shape (n_pixels, n_pixels)
        Distances of the samples, or their means over blocks.
    order : ndarray of shape (n_samples,)
        The samples in the order of VAT.
    improved : bool, default=False
        Whether these are the path distances of iVAT.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    im_ : matplotlib AxesImage
        The picture.

    Examples
    --------
    >>> from icvi_artmap import VATDisplay
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
    >>> display = VATDisplay.from_data(X, improved=True).plot()
    >>> display.figure_.savefig("vat.png")  # doctest: +SKIP
    """

    def __init__(
        self, image: NDArray[np.float64], order: NDArray[np.int64], *, improved: bool = False
    ) -> None:
        self.image = image
        self.order = order
        self.improved = improved

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        *,
        improved: bool = False,
        max_pixels: int = MOST_PIXELS,
        scale: bool = True,
    ) -> Self:
        """Order the samples and take their Euclidean distances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        improved : bool, default=False
            Take the path distances of :func:`ivat`.
        max_pixels : int, default=2000
            With more samples than this, a pixel is the mean over a block of them; no array is
            larger than the picture or the data.
        scale : bool, default=True
            Scale every feature to [0, 1] first, as ``ICVIARTMAP(order="vat")`` does: else the one
            with the largest numbers decides. False: take the samples as they are.

        Returns
        -------
        VATDisplay
        """
        check_truth("scale", scale)
        distances = checked_distances(X, "euclidean")
        if scale:
            table = samples.checked_table(X)
            distances = checked_distances(learn_scaling(table).min_max(table), "euclidean")
        return cls._from(distances, improved, max_pixels)

    @classmethod
    def from_distances(
        cls, distances: ArrayLike, *, improved: bool = False, max_pixels: int = MOST_PIXELS
    ) -> Self:
        """Order the samples by given distances and take these; see :meth:`from_data`."""
        return cls._from(checked_distances(distances, "precomputed"), improved, max_pixels)

    @classmethod
    def _from(cls, distances: Distances, improved: bool, max_pixels: int) -> Self:
        size = checked_size(max_pixels, distances.n, "max_pixels")
        order, links = distances.traverse()
        rows = PathRows(links) if improved else distances.in_order(order)
        return cls(image(rows, size), order, improved=improved)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            For matplotlib's ``imshow``.

        Returns
        -------
        VATDisplay
            This display, with ``ax_``, ``figure_`` and ``im_``.
        """
        ax = drawing.axes(ax, (6.4, 4.8))
        n = len(self.order)
        chosen = {"cmap": "gray", "extent": (0, n, n, 0), **options}
        self.im_ = ax.imshow(self.image, **chosen)
        ax.set_xlabel("position in the order of VAT")
        ax.set_ylabel("position in the order of VAT")
        label = "path distance (iVAT)" if self.improved else "distance"
        ax.figure.colorbar(self.im_, ax=ax, label=label)
        self.ax_, self.figure_ = ax, ax.figure
        return self
