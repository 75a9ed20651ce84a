"""The vigilances for which a fit says that it is the same."""

from __future__ import annotations

import numpy as np
import pytest

from icvi_artmap import ICVIARTMAP
from icvi_artmap.datasets import make_ellipsoid_clusters, make_gaussian_clusters

RHO_A = np.linspace(0.0, 0.9, 7)
RHO_AB = np.array([0.3, 0.6, 0.9, 0.97, 1.0])


def same(one: ICVIARTMAP, other: ICVIARTMAP) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("labels_", "categories_", "map_field_", "sample_categories_", "index_history_")
    )


@pytest.mark.parametrize("index", ["NI", "XB"])
@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("dense", [False, True])
def test_fits_within_are_the_same_and_some_outside_are_not(
    index: str, refine: bool, dense: bool
) -> None:
    if dense:
        X, _ = make_gaussian_clusters(6, 2, n_samples=400, random_state=3)
        X = np.round(X)  # many equal samples and equal matches
    else:
        X, _ = make_ellipsoid_clusters(4, 6, n_samples=300, random_state=1)
    models = {
        (a, b): ICVIARTMAP(
            5, index=index, rho_a=a, rho_ab=b, refine=refine, max_epochs=6, random_state=0
        ).fit(X)
        for a in RHO_A
        for b in RHO_AB
    }
    covered = differing = 0
    for own, model in models.items():
        assert model.vigilances_.contain(*own)
        for other, twin in models.items():
            if model.vigilances_.contain(*other):
                covered += own != other
                assert same(model, twin), (own, other)
            else:
                differing += not same(model, twin)
    assert covered > 0
    assert differing > 0
