"""What the room persistence needs of estimators: their state, and the way back from a file.

Attributes are set by the very methods that a fit uses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.estimators.art_family import FuzzyARTMAP, FuzzyClusterer, FuzzyNetwork, Ranges
from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
from icvi_artmap.estimators.partial_fit import check_stream
from icvi_artmap.indices.base import Index
from icvi_artmap.network.driver import Parameters
from icvi_artmap.prediction.confidence import Levels
from icvi_artmap.preparation.preparation import InUnits, Preparation
from icvi_artmap.samples.moments import Moments
from icvi_artmap.samples.scaling import Scaling
from icvi_artmap.training.art_family import ClusterNetwork
from icvi_artmap.training.number_of_clusters import Selection
from icvi_artmap.training.run import FitResult


def restore_icvi_artmap(
    model: ICVIARTMAP,
    result: FitResult,
    centres: NDArray[np.float64],
    scaling: Scaling,
    resolution: NDArray[np.float64],
    index: Index,
    selection: Selection | None,
    gaussians: Moments | None,
    levels: Levels | None,
    labels: NDArray[np.int64],
) -> None:
    """Give the model what its fit has found. ``centres``: in the units of the data."""
    model._set_result(result, scaling, index)
    model.resolution_ = resolution
    model.fitted_ = replace(model.fitted_, gaussians=gaussians, levels=levels)
    model.labels_ = labels
    model.cluster_centers_ = centres  # scaling there and back changes the last bits
    model.n_features_in_ = centres.shape[1]
    if selection is not None:
        model.selection_ = selection


def restore_preparation(
    model: ICVIARTMAP,
    preparation: Preparation | None,
    told: InUnits | None,
    trained: NDArray[np.bool_] | None,
    cautions: tuple[str, ...],
    components: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
) -> None:
    """Give a restored model what was done to its rows, and itself in the units of the data.

    ``components``: their means and covariances.
    """
    model.preparation_, model.cautions_ = preparation, cautions
    if preparation is None or told is None:
        return
    model.fitted_ = replace(model.fitted_, preparation=preparation, in_units=told, trained=trained)
    model.categories_ = np.stack([told.lower, told.upper], axis=1)
    if components is not None:
        means, covariances = components
        model.components_ = replace(model.components_, means=means, covariances=covariances)


def restore_network(
    model: FuzzyNetwork,
    network: ClusterNetwork,
    ranges: Ranges,
    categories: NDArray[np.int64],
    n_epochs: int,
    converged: bool,
    classes: NDArray[Any] | None = None,
) -> None:
    """Give an estimator of the ART family its network. ``classes``: of a classifier."""
    model._set_network(network, ranges, categories)
    model.n_iter_, model.converged_ = n_epochs, converged
    model.n_features_in_ = len(ranges.lower)
    if isinstance(model, FuzzyClusterer):
        model._set_clusters(categories)
    elif isinstance(model, FuzzyARTMAP):
        assert classes is not None
        model._set_map(classes)


def check_parameters(model: ICVIARTMAP | FuzzyNetwork) -> None:
    """Check the parameters of a restored model as another fit on such data would."""
    if isinstance(model, ICVIARTMAP):
        index, parameters = model._check_parameters()
        model._given_centres(model.n_features_in_)
        if hasattr(model, "stream_"):
            check_stream(model, index, parameters)
    else:
        model._check_parameters()
        model._find_ranges(np.zeros((1, model.n_features_in_)))


def network_parameters(model: ICVIARTMAP) -> Parameters:
    """What the network of a model learns by."""
    return model._network_parameters()


def transform_output(model: Any) -> str | None:
    """What ``set_output`` was told, or None; scikit-learn has no other way to ask."""
    told: str | None = getattr(model, "_sklearn_output_config", {}).get("transform")
    return told
